// Hundreds of malformed requests, and unknown addresses: none gets a server error, and no 404 repeats the requested address.
import { setTimeout as pause } from 'node:timers/promises';
import { ROUTES } from '../../bench/support/hostile-requests.mjs';
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import type { RawAnswer, RawRequest } from '../support/raw-http.js';
import { sendAndLeave, sendBytes, sendRaw } from '../support/raw-http.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
/** At once; more would only wait for each other. */
const BATCH = 20;

const FORM = 'application/x-www-form-urlencoded';
const GRANT = 'grant_type=urn:ietf:params:oauth:grant-type:token-exchange';

const METHODS = ['HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'BREW'];

const QUERIES = [
  '?',
  '?%zz=%zz',
  '?%ff%fe',
  '?token=%00&cursor=%00&limit=%00',
  '?token[]=1&token[a][b]=2&__proto__[x]=1&constructor=1',
  '?limit=1&limit=2&cursor=a&cursor=b&token=a&token=b',
  `?${'a=1&'.repeat(2_000)}`,
  `?limit=${'9'.repeat(500)}&cursor=${'A'.repeat(5_000)}`,
];

/** Content type and body; what a form, JSON or multipart reader might stumble over. */
const BODIES: readonly [string, string | Uint8Array][] = [
  [FORM, ''],
  [FORM, `${GRANT}&subject_token=%zz`],
  [FORM, `${GRANT}&subject_token=%00`],
  [FORM, `${GRANT}&subject_token=a&subject_token=b`],
  [FORM, `${GRANT}&subject_token=x&scope=${encodeURIComponent('\ud83d\ude00'.repeat(600))}`],
  [FORM, `token=${'A'.repeat(1_000_000)}`],
  [FORM, `token=e30.${'W1'.repeat(20_000)}.x`],
  [FORM, Uint8Array.from({ length: 4_096 }, (_, index) => index % 256)],
  [FORM, 'a'.repeat(3_000_000)],
  [`${FORM}; charset=utf-16`, 'token=x'],
  ['application/json', '{"token":"x","__proto__":{"a":1}}'],
  ['application/json', '['.repeat(50_000)],
  ['application/json; charset=utf-7', '{}'],
  ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="token"\r\n\r\nx'],
  ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="t"; filename="\0'],
  ['text/xml', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'],
  ['', 'token=x'],
  ['a'.repeat(4_000), 'token=x'],
  ['application/x-www-form-urlencoded, application/json', 'token=x'],
];

const HEADERS: readonly Record<string, string>[] = [
  { authorization: `Bearer ${'A'.repeat(8_000)}` },
  { authorization: 'Bearer eyJhbGciOiJub25lIiwia2lkIjoiXHUwMDAwIn0.e30.' },
  { cookie: `__Host-svc-session=${'A'.repeat(8_000)}` },
  { cookie: '__Host-svc-session=%00; __Host-svc-session="; =; ;' },
  {
    'x-forwarded-for': '::ffff:999.1.1.1, , [::1',
    'x-forwarded-proto': 'gopher',
    'x-forwarded-host': '\xff',
  },
  { 'x-request-id': '\xff\xfe', 'content-length': '0' },
  { range: 'bytes=9-1', 'if-none-match': 'W/"', 'if-modified-since': 'never' },
  { host: '', upgrade: 'websocket', connection: 'upgrade, close' },
  { 'transfer-encoding': 'chunked, identity' },
  { accept: '*/*;q=zz', 'accept-encoding': 'x'.repeat(2_000), origin: 'null' },
];

/** Paths that are no route, in ways that routers and file servers have fallen for. */
const ODD_PATHS = [
  '/nowhere',
  '/rest',
  '/rest/auth/embed/',
  '/REST/AUTH/EMBED',
  '/rest//auth/embed',
  '/rest/auth/embed;x=1',
  '/rest/auth/oauth/%74oken%00',
  '/api/v1/unknown/1',
  '/assets/x/../../package.json',
  '/assets/current/..%2f..%2fpackage.json',
  '/assets/current/page.css%00',
  '/assets/__proto__/constructor',
  '/..%2f..%2fetc%2fpasswd',
  '//evil.example/rest/auth/embed/x',
  '/<script>alert(1)</script>',
  '/nowhere?token=secret-in-query',
  `/${'a'.repeat(4_000)}`,
  '/%e2%80%ae',
  '/.git/config',
];

/** All of it: some four hundred requests. */
function oddRequests(): RawRequest[] {
  const writing = ROUTES.filter(([method]) => method === 'POST').map(([, target]) => target);
  return [
    ...ROUTES.flatMap(([, target]) => METHODS.map((method) => ({ method, target }))),
    ...ROUTES.flatMap(([method, target]) => QUERIES.map((query) => ({ method, target: target + query }))),
    ...ROUTES.flatMap(([method, target]) => HEADERS.map((headers) => ({ method, target, headers }))),
    ...writing.flatMap((target) =>
      BODIES.map(([type, body]) => ({ method: 'POST', target, headers: { 'content-type': type }, body })),
    ),
    ...['GET', 'PUT', 'DELETE'].map((method) => ({ method, target: '/rest/auth/embed', body: '{' })),
    ...ODD_PATHS.map((target) => ({ target })),
    ...[
      '*',
      '',
      '?',
      '#',
      'x',
      '/\xff',
      '/%',
      '/%zz',
      '/%c3%28',
      'http://[::1',
      'https://a.example/rest/me',
    ].map((target) => ({ target })),
  ];
}

/** Bytes that are no HTTP request, or two in one. */
const ODD_BYTES = [
  'NONSENSE\r\n\r\n',
  'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n',
  'GET /\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
  `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'X: 1\r\n'.repeat(3_000)}\r\n`,
  'GET / HTTP/1.1\r\nHost: a\r\n folded: 1\r\nConnection: close\r\n\r\n',
  'POST /rest/auth/embed HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
  'POST /rest/auth/embed HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
];

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const JSON_BODY = { error: 'not_found', message: 'Not found' };

describeOnAnyDatabase('[D23] odd requests', (database) => {
  const environment = { SVC_LOG_LEVEL: 'debug' };
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()], environment });

  it('[D42] nothing that a client sends makes a 5xx, an error in the log, or a hanging connection', async () => {
    const requests = oddRequests();
    expect(requests.length).toBeGreaterThan(300);
    const bad: unknown[] = [];
    for (let start = 0; start < requests.length; start += BATCH) {
      const answered = requests.slice(start, start + BATCH).map(async (request) => {
        const answer = await sendRaw(service.address, request).catch(() => undefined);
        if (!answer?.isClosed || answer.status >= 500 || !hasRequestId(answer))
          bad.push(described(request, answer?.status));
      });
      await Promise.all(answered);
    }
    expect(bad).toEqual([]);
    expect(service.log.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  });

  it('[D42] bytes that are not HTTP are refused with a 4xx, or the connection is closed', async () => {
    for (const text of ODD_BYTES) {
      const answer = await sendBytes(service.address, Buffer.from(text, 'latin1'));
      expect([text.slice(0, 60), answer?.status ?? 400]).toEqual([text.slice(0, 60), expectedStatus]);
      expect([text.slice(0, 60), answer === undefined || hasRequestId(answer)]).toEqual([
        text.slice(0, 60),
        true,
      ]);
    }
    expect(service.log.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  });

  it.each([
    ['a path that cannot be decoded', 'GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    [
      'a parameter of a path that is too long',
      `GET /api/v1/users/${'a'.repeat(3_000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    ],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['two hosts', 'GET /healthz HTTP/1.1\r\nHost: a\r\nhost: a\r\nConnection: close\r\n\r\n'],
    ['no HTTP', 'NONSENSE\r\n\r\n'],
  ])('[D21] a request with %s is answered with its id in header and body', async (_, text) => {
    const answer = await sendBytes(service.address, Buffer.from(text));
    const requestId = expect.stringMatching(/^[0-9a-v]{20}$/) as string;
    expect(answer).toMatchObject({
      status: 400,
      headers: {
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': requestId,
      },
    });
    expect(JSON.parse(answer?.body ?? '')).toEqual({
      error: 'bad_request',
      message: 'The request cannot be read',
      requestId: answer?.headers['x-request-id'],
    });
  });

  it('[D21] HTTP/1.0 needs no host', async () => {
    const answer = await sendBytes(service.address, Buffer.from('GET /healthz HTTP/1.0\r\n\r\n'));
    expect([answer?.status, answer && hasRequestId(answer)]).toEqual([200, true]);
  });

  it('[D21] an unknown Expect is ignored', async () => {
    const answer = await sendRaw(service.address, { target: '/healthz', headers: { expect: 'nothing' } });
    expect([answer?.status, answer && hasRequestId(answer)]).toEqual([200, true]);
  });

  it('[D23] every 404 has the same bytes for every request', async () => {
    const unknown = await sendRaw(service.address, { target: '/unknown' });
    expect(unknown).toMatchObject({
      status: 404,
      headers: { 'content-type': expect.stringMatching(/json/) },
    });
    const found: unknown[] = [];
    for (const target of ODD_PATHS) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const answer = await sendRaw(service.address, { method, target });
        if (answer?.status === 405 && isAsset(target)) continue;
        if (answer?.status === 404 && answer.body === unknown?.body) continue;
        found.push([method, target.slice(0, 60), answer?.status, answer?.body]);
      }
    }
    expect(found).toEqual([]);
  });

  it('[D42] a client that disconnects within its body causes no error of the service', async () => {
    const head =
      'HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 99\r\n\r\n';
    for (const path of ['/rest/auth/embed', '/rest/auth/oauth/token', '/rest/auth/logout']) {
      await sendAndLeave(service.address, `POST ${path} ${head}token=half`);
    }
    // A request that comes later is answered later.
    await pause(200);
    expect((await service.fetch('/healthz')).status).toBe(200);
    const lines = service.log.filter(({ level, status }) => level === 'error' || Number(status) >= 500);
    expect(lines).toEqual([]);
  });

  it('[4.1] the service still works after all these requests', async () => {
    expect((await service.embed({ token: partner.sign() })).status).toBe(303);
    expect((await service.exchange({ subject_token: partner.sign() })).status).toBe(200);
  });

  describe('[D23] an unknown address', () => {
    const get = (path: string, init: RequestInit = {}) =>
      service.fetch(path, { headers: { accept: BROWSER }, ...init });

    it.each(['/nowhere', '/workflows/1?x=%3Cscript%3E', '/apis', '/%E2%82%AC'])(
      '[D23] %s is a page for a visitor, the same for each and with nothing of the request',
      async (path) => {
        const answer = await get(path);
        expect([answer.status, answer.headers.get('content-type')]).toEqual([
          404,
          'text/html; charset=utf-8',
        ]);
        expect(answer.headers.get('cache-control')).toBe('no-store');
        expect(answer.headers.get('x-request-id')).not.toBeNull();
        expect(await answer.text()).toBe(await (await get('/another')).text());
      },
    );

    it.each(['/rest/nothing', '/api/v1/nothing', '/api', '/assets/x/y.js', '/.well-known/nothing'])(
      '[D23] %s is JSON for all',
      async (path) => {
        const answer = await get(path);
        expect([answer.status, await answer.json()]).toEqual([404, JSON_BODY]);
      },
    );

    it.each<RequestInit>([{ headers: {} }, { headers: { accept: 'application/json' } }, { method: 'POST' }])(
      '[D23] it is JSON for programs: %j',
      async (init) => {
        const answer = await get('/nowhere', init);
        expect([answer.status, await answer.json()]).toEqual([404, JSON_BODY]);
      },
    );
  });
});

function hasRequestId({ headers }: RawAnswer): boolean {
  return (headers['x-request-id'] ?? '') !== '';
}

/** 200 for a request that is merely old-fashioned. */
const expectedStatus: unknown = {
  asymmetricMatch: (status: unknown) => status === 200 || (Number(status) >= 400 && Number(status) < 500),
  toString: () => 'AClientError',
};

/** GET answers for an asset with an unknown name. Other methods are wrong for any name. */
function isAsset(target: string): boolean {
  return /^\/assets\/[^/]+\/[^/]+$/.test(target);
}

function described({ method, target, headers, body = '' }: RawRequest, status: number | undefined): unknown {
  const shown = JSON.stringify(headers ?? {}).slice(0, 80);
  return [
    status ?? 'no answer',
    method ?? 'GET',
    target.slice(0, 60),
    shown,
    Buffer.from(body).toString().slice(0, 60),
  ];
}
