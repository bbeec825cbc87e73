// The client for partners' backends if another program answers, nothing answers, or its caller gives up.
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { decodeJwt } from 'jose';
import type {
  Partner,
  PartnerClock,
  PartnerError,
  PartnerOptions,
} from '../../packages/partner/src/index.js';
import { createPartner } from '../../packages/partner/src/index.js';
import { until } from '../support/until.js';
import { OddEndpoint } from './support/odd-endpoint.js';
import { WaitingClock } from './support/partner-clock.js';
import { SentForms } from './support/sent-forms.js';

const KEY = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
const ISSUER = 'https://partner.example';
const ANSWER = { access_token: 'a-token', token_type: 'Bearer', expires_in: 60 };

let endpoint: OddEndpoint;
let clock: WaitingClock;
beforeAll(async () => {
  endpoint = await OddEndpoint.open();
});
beforeEach(() => {
  clock = new WaitingClock();
});
afterAll(() => endpoint?.close());

function partner(more: Partial<PartnerOptions> = {}): Partner {
  return createPartner({ issuer: ISSUER, baseUrl: endpoint.baseUrl, key: KEY, clock, ...more });
}

function failureOf(promise: Promise<unknown>): Promise<PartnerError> {
  return promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: PartnerError) => error,
  );
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const inTurn = (...listeners: RequestListener[]): RequestListener => {
  let turn = 0;
  return (request, response) => listeners[Math.min(turn++, listeners.length - 1)]?.(request, response);
};

describe('a failure other than 429 or 503', () => {
  it.each<[string, RequestListener, string, number | undefined]>([
    ['a fault of the service', json(500, { error: 'server_error' }), 'server_error', 500],
    ['an error that it does not have', json(400, { error: 'invalid_client' }), 'unexpected_answer', 400],
    ['a bad gateway, as HTML', (_, answer) => answer.writeHead(502).end('<h1>'), 'unexpected_answer', 502],
    ['a token of another kind', json(200, { ...ANSWER, token_type: 'N_A' }), 'unexpected_answer', 200],
    ['no token', json(200, { ...ANSWER, access_token: '' }), 'unexpected_answer', 200],
    ['no object', json(200, null), 'unexpected_answer', 200],
    [
      'a redirect, which would take the token along',
      (_, answer) => answer.writeHead(307, { location: '/elsewhere' }).end(),
      'unexpected_answer',
      307,
    ],
    [
      'an answer without end',
      (_, answer) => answer.writeHead(200).end('x'.repeat(300 * 1024)),
      'unexpected_answer',
      200,
    ],
    ['a connection that breaks', (_, answer) => void answer.destroy(), 'network_error', undefined],
  ])('is reported once: %s', async (_, listener, code, status) => {
    endpoint.answer(listener);
    const error = await failureOf(partner().exchange({ subject: 'ada' }));
    expect(error).toMatchObject({ name: 'PartnerError', code, status, tries: 1 });
    expect([endpoint.requests, clock.waits]).toEqual([1, []]);
  });

  it('is reported without the token, even if an answer repeats it', async () => {
    endpoint.answer((request, response) => {
      let body = '';
      request.on('data', (part) => (body += String(part)));
      request.on('end', () => {
        const token = new URLSearchParams(body).get('subject_token') ?? '';
        json(400, { error: 'invalid_grant', error_description: `bad ${token.slice(0, 40)}` })(
          request,
          response,
        );
      });
    });
    const error = await failureOf(partner().exchange({ subject: 'ada' }));
    expect(error.code).toBe('invalid_grant');
    expect(inspect(error, { depth: 9 })).not.toContain('eyJ');
  });

  it.each([
    [
      'of its cause',
      new TypeError('fetch failed', { cause: { code: 'CERT_HAS_EXPIRED' } }),
      ': CERT_HAS_EXPIRED',
    ],
    ['of its own', Object.assign(new Error('no'), { code: 'ENOTFOUND' }), ': ENOTFOUND'],
    ['that is no code', new TypeError('fetch failed', { cause: { code: 'eyJhbGciOi' } }), ''],
  ])('is reported with the code %s, if fetch fails', async (_, thrown, suffix) => {
    const broken: typeof fetch = () => Promise.reject(thrown);
    const error = await failureOf(partner({ fetch: broken }).exchange({ subject: 'ada' }));
    expect(error).toMatchObject({
      code: 'network_error',
      message: `No answer came from the instance${suffix}`,
    });
  });
});

describe('a 429 or 503', () => {
  const busy = (headers: Record<string, string> = {}) =>
    json(503, { error: 'temporarily_unavailable' }, headers);

  it('is retried as often as allowed, then reported', async () => {
    endpoint.answer(busy({ 'retry-after': '2' }));
    const error = await failureOf(partner({ maxTries: 4, timeoutSeconds: 60 }).exchange({ subject: 'ada' }));
    expect(error).toMatchObject({
      code: 'temporarily_unavailable',
      status: 503,
      retryAfterSeconds: 2,
      tries: 4,
    });
    expect(endpoint.requests).toBe(4);
    expect(clock.waits).toHaveLength(3);
    for (const wait of clock.waits) {
      expect(wait).toBeGreaterThanOrEqual(2000);
      expect(wait).toBeLessThanOrEqual(3000);
    }
  });

  it('without Retry-After is retried after one second, then two', async () => {
    endpoint.answer(inTurn((_, answer) => answer.writeHead(503).end('<h1>'), busy(), json(200, ANSWER)));
    await expect(partner().exchange({ subject: 'ada' })).resolves.toMatchObject({ accessToken: 'a-token' });
    expect(clock.waits.map((wait) => Math.floor(wait / 1000))).toEqual([
      expect.any(Number),
      expect.any(Number),
    ]);
    expect(clock.waits[0]).toBeGreaterThanOrEqual(1000);
    expect(clock.waits[1]).toBeGreaterThanOrEqual(2000);
  });

  it("with a date in Retry-After is retried by the answer's clock", async () => {
    const date = 'Sun, 22 Nov 2026 10:00:00 GMT';
    const headers = { date, 'retry-after': 'Sun, 22 Nov 2026 10:00:07 GMT' };
    endpoint.answer(inTurn(busy(headers), json(200, ANSWER)));
    await partner().exchange({ subject: 'ada' });
    expect(clock.waits).toHaveLength(1);
    expect(clock.waits[0]).toBeGreaterThanOrEqual(7000);
    expect(clock.waits[0]).toBeLessThanOrEqual(8000);
  });

  it('is reported at once if waiting would take longer than allowed', async () => {
    endpoint.answer(busy({ 'retry-after': '60' }));
    const error = await failureOf(partner({ timeoutSeconds: 30 }).exchange({ subject: 'ada' }));
    expect(error).toMatchObject({ code: 'temporarily_unavailable', retryAfterSeconds: 60, tries: 1 });
    expect(clock.waits).toEqual([]);
  });

  it('with the longest wait of a per-minute limit is waited for, unless configured otherwise', async () => {
    endpoint.answer(inTurn(busy({ 'retry-after': '60' }), json(200, ANSWER)));
    await expect(partner().exchange({ subject: 'ada' })).resolves.toMatchObject({ accessToken: 'a-token' });
    expect(clock.waits).toHaveLength(1);
  });

  it('does not make a hundred waiting callers send a hundred requests', async () => {
    endpoint.answer(inTurn(busy(), json(200, ANSWER)));
    const one = partner();
    await Promise.all(Array.from({ length: 100 }, () => one.exchange({ subject: 'ada' })));
    expect(endpoint.requests).toBe(2);
  });
});

describe('cancellation', () => {
  /** Keeps requests without an answer. */
  const held: ServerResponse[] = [];
  const hold: RequestListener = (_, response) => void held.push(response);
  const answerAll = () => {
    for (const response of held.splice(0)) response.end(JSON.stringify(ANSWER));
  };
  afterEach(answerAll);

  it('is reported before anything is sent', async () => {
    endpoint.answer(json(200, ANSWER));
    const reason = new Error('no longer wanted');
    const error = await failureOf(partner().exchange({ subject: 'ada', signal: AbortSignal.abort(reason) }));
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    expect(endpoint.requests).toBe(0);
  });

  it('by one caller leaves the exchange to the others', async () => {
    endpoint.answer(hold);
    const one = partner();
    const controller = new AbortController();
    const given = failureOf(one.exchange({ subject: 'ada', signal: controller.signal }));
    const other = one.exchange({ subject: 'ada' });
    await until('the request has come', 30_000, async () => held.length === 1);
    controller.abort();
    expect(await given).toMatchObject({ code: 'aborted' });
    answerAll();
    await expect(other).resolves.toMatchObject({ accessToken: 'a-token' });
    expect(endpoint.requests).toBe(1);
  });

  it('by all callers ends the request, and the next call starts again', async () => {
    endpoint.answer(hold);
    const one = partner();
    const controller = new AbortController();
    const calls = [1, 2].map(() => failureOf(one.exchange({ subject: 'ada', signal: controller.signal })));
    await until('the request has come', 30_000, async () => held.length === 1);
    const [request] = held;
    controller.abort();
    expect((await Promise.all(calls)).map(({ code }) => code)).toEqual(['aborted', 'aborted']);
    await until('the connection is closed', 30_000, async () => request?.destroyed === true);
    endpoint.answer(json(200, ANSWER));
    await expect(one.exchange({ subject: 'ada' })).resolves.toBeDefined();
  });

  it('ends the wait for a retry too', async () => {
    endpoint.answer(json(503, { error: 'temporarily_unavailable' }, { 'retry-after': '20' }));
    let isWaiting = false;
    const given: PartnerClock = {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      wait: async (_, signal) => {
        isWaiting = true;
        await once(signal, 'abort');
        isWaiting = false;
      },
    };
    const controller = new AbortController();
    const call = failureOf(partner({ clock: given }).exchange({ subject: 'ada', signal: controller.signal }));
    await until('it waits for the next try', 30_000, () => isWaiting);
    controller.abort();
    expect(await call).toMatchObject({ code: 'aborted' });
    await until('it waits no more', 30_000, () => !isWaiting);
    expect(endpoint.requests).toBe(1);
  });

  it.each<[string, typeof fetch | undefined]>([
    ['the instance does not answer', undefined],
    ['nothing comes', () => new Promise(() => undefined)],
    ['an answer stops in its middle', () => Promise.resolve(new Response(new ReadableStream()))],
  ])('happens automatically if %s, whether or not the given fetch respects its signal', async (_, deaf) => {
    endpoint.answer(hold);
    const error = await failureOf(partner({ timeoutSeconds: 1, fetch: deaf }).exchange({ subject: 'ada' }));
    const message = 'The exchange took more than 1 seconds';
    expect(error).toMatchObject({ code: 'timeout', tries: 1, message });
  });
});

describe('a request', () => {
  const tell = () => new SentForms();

  it('keeps the values of the call, even if the caller changes the object later', async () => {
    endpoint.answer(json(200, ANSWER));
    const seen = tell();
    const one = partner({ fetch: seen.fetch });
    const subject = { sub: 'ada' };
    const request = { subject, actor: { sub: 'helpdesk' }, scope: ['workflow:read'] };
    const login = { subject, redirectTo: '/' };
    const [exchange, form] = [one.exchange(request), one.embedForm(login)];
    subject.sub = 'bob';
    request.actor.sub = 'mallory';
    request.scope.push('workflow:delete');
    Object.assign(request, { subject: 'bob', resource: 'https://api.example/' });
    login.redirectTo = '/elsewhere';
    await exchange;
    expect(seen.claims().map(({ sub }) => sub)).toEqual(['ada', 'helpdesk']);
    expect(seen.forms[0]?.get('scope')).toBe('workflow:read');
    expect(seen.forms[0]?.has('resource')).toBe(false);
    const { token, redirectTo } = (await form).fields;
    expect([decodeJwt(token).sub, redirectTo]).toEqual(['ada', '/']);
  });

  it('with a refused token causes no exchange if another call has already got a new token', async () => {
    let issued = 0;
    endpoint.answer((request, response) => {
      issued += 1;
      json(200, { ...ANSWER, access_token: `token-${issued}` })(request, response);
    });
    const one = partner();
    const { accessToken: refused } = await one.exchange({ subject: 'ada' });
    const [first, second] = [
      await one.exchange({ subject: 'ada', fresh: refused }),
      await one.exchange({ subject: 'ada', fresh: refused }),
    ];
    expect([refused, first.accessToken, second.accessToken]).toEqual(['token-1', 'token-2', 'token-2']);
    const anyhow = await one.exchange({ subject: 'ada', fresh: true });
    const again = await one.exchange({ subject: 'ada', fresh: anyhow.accessToken });
    expect([anyhow.accessToken, again.accessToken, endpoint.requests]).toEqual(['token-3', 'token-4', 4]);
  });

  it('is repeated after a sleep in which the monotonic clock stopped', async () => {
    endpoint.answer(json(200, { ...ANSWER, expires_in: 600 }));
    const one = partner();
    await one.exchange({ subject: 'ada' });
    clock.setBack(-580);
    await one.exchange({ subject: 'ada' });
    expect(endpoint.requests).toBe(1);
    clock.setBack(-20);
    await one.exchange({ subject: 'ada' });
    expect(endpoint.requests).toBe(2);
  });
});

describe('a refusal', () => {
  const DATE = 'Sun, 22 Nov 2026 10:00:00 GMT';
  it.each([
    [600, 9, undefined],
    [600, 10, 'ahead of'],
    [600, -593, 'behind'],
    [5, -2, undefined],
    [5, -3, 'behind'],
  ])('of a token of %d seconds, by a clock %d off, reports %s', async (life, offset, side) => {
    endpoint.answer(json(400, { error: 'invalid_grant' }, { date: DATE }));
    clock = new WaitingClock(Date.parse(DATE) + offset * 1000);
    const error = await failureOf(partner({ tokenLifetimeSeconds: life }).exchange({ subject: 'ada' }));
    expect(error).toMatchObject({ code: 'invalid_grant', clockOffsetSeconds: offset });
    const [, told] = /seconds (ahead of|behind) the instance's/.exec(error.message) ?? [];
    expect(told).toBe(side);
  });
});

describe('options', () => {
  const good = { issuer: ISSUER, baseUrl: 'https://instance.example', key: KEY };
  const pkcs8 = () => KEY.export({ type: 'pkcs8', format: 'pem' }).toString();
  const publicPem = () =>
    generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['an issuer that is no URL', { issuer: 'partner' }, /^issuer must be a URL/],
    ['an address with a path', { baseUrl: 'https://instance.example/app' }, /^baseUrl must be an origin/],
    ['http to another machine', { baseUrl: 'http://instance.example' }, /^baseUrl must be https:/],
    ['no address', { baseUrl: undefined }, /^baseUrl must be a URL$/],
    ['a life of no length', { tokenLifetimeSeconds: 0 }, /^tokenLifetimeSeconds must be .* from 5 to 3600$/],
    ['a public key', { key: publicPem() }, /^key must be a private key, but is a public key$/],
    ['a public JWK', { key: { kty: 'OKP', crv: 'Ed25519', x: 'AA' } }, /^key is no JWK of a private key$/],
    ['a path', { key: './partner.pem' }, /^key is not the PEM of a private key; if it is a path/],
    ['an encrypted key', { key: '-----BEGIN ENCRYPTED PRIVATE KEY-----' }, /^key is an encrypted PEM/],
    [
      'a curve that is not taken',
      {
        key: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey,
      },
      /^key is of a type that the instance does not take$/,
    ],
    [
      'a short key',
      { key: generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey },
      /^key is an RSA key of less than 2048 bits$/,
    ],
    ['another algorithm', { key: { key: KEY, alg: 'RS256' } }, /^key can sign ES256, and not what alg says$/],
    [
      'a key for PSS alone',
      { key: generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey },
      /^key is an RSA-PSS key, which is not taken: take an RSA key with alg PS256$/,
    ],
    ['no key', { key: null }, /^key must be a private key: PEM, JWK, KeyObject or CryptoKey$/],
    ['keys without a list', { otherKeys: KEY }, /^otherKeys must be a list$/],
    ['one key twice', { nextKey: KEY }, /^nextKey has the kid of another key: each needs one of its own$/],
    ['an option that there is not', { dPop: true }, /^options has "dPop", which is none of issuer, /],
    [
      'half a clock',
      { clock: { nowMs: Date.now } },
      /^clock must be an object with the functions nowMs, monotonicMs and wait$/,
    ],
    ['http by a text', { allowHttp: 'false' }, /^allowHttp must be true or false$/],
    [
      'a PEM without line breaks',
      { key: pkcs8().replaceAll('\n', ' ') },
      /^key is a damaged PEM: it needs a BEGIN line, lines of base64 and an END line$/,
    ],
  ])('reject %s', (_, wrong, message) => {
    const make = () => createPartner({ ...good, ...wrong });
    expect(make).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringMatching(message) }),
    );
  });

  it.each<[string, Partial<PartnerOptions>]>([
    ['http://localhost:5678', {}],
    ['http://127.0.0.1', {}],
    ['http://[::1]:1', {}],
    ['https://instance.example/', {}],
    ['http://instance.test', { allowHttp: true }],
  ])('accept the address %s with %j', (baseUrl, more) => {
    expect(() => createPartner({ ...good, baseUrl, ...more })).not.toThrow();
  });

  it('must be an object', () => {
    for (const nothing of [undefined, null, 'options'])
      expect(() => createPartner(nothing as unknown as PartnerOptions)).toThrow(
        expect.objectContaining({ code: 'invalid_option', message: 'options must be an object' }),
      );
  });

  it.each<[string, Record<string, unknown> | null, RegExp]>([
    ['no sub', { subject: { email: 'ada@partner.example' } }, /^subject needs a sub of 1 to 255 characters$/],
    ['nothing', null, /^the request must be an object$/],
    ['a subject that is null', { subject: null }, /^subject must be claims, or their sub as a text$/],
    [
      'a function',
      { subject: { sub: 'a', act: () => 'b' } },
      /^the request has something in it that is no data/,
    ],
    ['a scope that is a number', { subject: 'a', scope: 5 }, /^scope must be a text or a list of texts$/],
    ...['scope', 'resource'].flatMap((field) =>
      [[], '', ' ', [''], ['b', '']].map((nothing): [string, Record<string, unknown>, RegExp] => [
        `${field} ${JSON.stringify(nothing)}, which would be all`,
        { subject: 'a', [field]: nothing },
        new RegExp(`^${field} has nothing in it: leave it out for all that there is$`),
      ]),
    ),
    [
      'a member that there is not',
      { subject: 'a', scopes: 'a' },
      /^the request has "scopes", which is none of subject, actor, scope, /,
    ],
    ['a signal that is none', { subject: 'a', signal: {} }, /^signal must be an AbortSignal$/],
    ['fresh by a number', { subject: 'a', fresh: 1 }, /^fresh must be true, false, or the access token/],
    ['a kid that no key has', { subject: 'a', subjectKid: 'gone' }, /^no key has the kid that is named$/],
  ])('of an exchange cannot be %s', async (_, request, message) => {
    endpoint.answer(json(200, ANSWER));
    const error = await failureOf(partner().exchange(request as unknown as { subject: string }));
    expect(error).toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(message),
      tries: 0,
    });
    expect(endpoint.requests).toBe(0);
  });

  it.each<unknown>([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '',
    null,
  ])('of a login cannot lead away from the instance: %j', async (target) => {
    const redirectTo = target as string;
    const error = await failureOf(partner().embedForm({ subject: 'a', redirectTo }));
    expect(error).toMatchObject({
      code: 'invalid_option',
      message: 'redirectTo must be a path on the instance',
    });
  });

  it.each([{ target: 5 }, { id: null }, { name: 'frame' }, null])(
    "of a login's HTML cannot be %j",
    async (options) => {
      const form = await partner().embedForm({ subject: 'a' });
      expect(() => form.toHtml(options as unknown as object)).toThrow(
        expect.objectContaining({ code: 'invalid_option' }),
      );
    },
  );

  it('of a login are validated like those of an exchange', async () => {
    for (const wrong of [undefined, { subject: null }, { redirectTo: null }, { subject: 'a', path: '/' }]) {
      const error = await failureOf(partner().embedForm(wrong as unknown as { subject: string }));
      expect(error).toMatchObject({ name: 'PartnerError', code: 'invalid_option' });
    }
  });
});
