// Requests that are valid except for one HTTP property: the method, the content coding, the charset.
import { gzipSync } from 'node:zlib';
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { EMBED_PATH, EXCHANGE_PATH } from '../support/entry-paths.js';
import { sendRaw } from '../support/raw-http.js';
import { BASE_URL, GRANT_TYPE, TestService } from '../support/test-service.js';
import { withService } from '../support/with-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];
const FORM = 'application/x-www-form-urlencoded';
const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'PURGE',
  'QUERY',
];
const ID = '0190163d-8694-739b-aea5-966c26f8ad91';

/** By path, what `Allow` says; the API's come from its description, which names no HEAD: it is wherever GET is. */
const ALLOWED: Readonly<Record<string, string>> = {
  [EXCHANGE_PATH]: 'POST',
  [EMBED_PATH]: 'POST, GET',
  '/rest/auth/events': 'POST',
  '/rest/auth/explain': 'POST',
  '/rest/auth/logout': 'POST',
  '/rest/me': 'GET, HEAD',
  '/.well-known/jwks.json': 'GET, HEAD, OPTIONS',
  '/.well-known/oauth-authorization-server': 'GET, HEAD, OPTIONS',
  '/.well-known/openid-configuration': 'GET, HEAD, OPTIONS',
  '/.well-known/oauth-protected-resource': 'GET, HEAD, OPTIONS',
  '/api/v1/openapi.json': 'GET, HEAD',
  '/api/v1/docs': 'GET, HEAD',
  '/api/v1/docs/reference.js': 'GET, HEAD',
  '/healthz': 'GET, HEAD',
  '/healthz/readiness': 'GET, HEAD',
  '/': 'GET, HEAD',
  '/frame': 'GET, HEAD',
  '/frame/check': 'GET, HEAD',
  '/embed.js': 'GET, HEAD',
  '/embed.d.ts': 'GET, HEAD',
  '/assets/current/page.css': 'GET, HEAD',
};

describeOnAnyDatabase('[D20] the place of the method in the order', (database) => {
  it('[D20] the method is checked before throttle and switch, and a wrong one is not counted', async () => {
    const environment = {
      SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1',
      SVC_TOKEN_EXCHANGE_ENABLED: 'false',
    };
    await withService(database, { trustedKeys, environment }, async (limited) => {
      const put = () => limited.fetch(EXCHANGE_PATH, { method: 'PUT' });
      expect((await put()).status).toBe(405);
      expect((await limited.exchange({ subject_token: 'x' })).status).toBe(501);
      expect((await limited.exchange({ subject_token: 'x' })).status).toBe(429);
      expect((await put()).status).toBe(405);
    });
  });
});

describeOnAnyDatabase('[D57] methods', (database) => {
  const service = TestService.forBlock(database, { trustedKeys, environment: { SVC_LOG_LEVEL: 'debug' } });

  it('[D57] every path answers 405 to the methods that it has not, and reports those that it has', async () => {
    const known = { ...ALLOWED, ...(await pathsOfApi(service)) };
    expect(Object.keys(known).length).toBeGreaterThan(30);
    for (const [path, allow] of Object.entries(known))
      for (const method of METHODS.filter((name) => !allow.split(', ').includes(name))) {
        const answer = await sendRaw(service.address, { method, target: path });
        const told = answer?.headers['allow']?.toString().split(', ').sort();
        expect([path, method, answer?.status, told]).toEqual([path, method, 405, allow.split(', ').sort()]);
        if (method !== 'HEAD') expect(answer?.body).toContain('"error":"method_not_allowed"');
      }
  });

  it('[D57] a HEAD is answered as its GET, without the body', async () => {
    const token = await service.accessToken({ subject_token: partner.sign() });
    const headers = { authorization: `Bearer ${token}`, accept: '*/*', 'accept-encoding': 'identity' };
    const known = { ...ALLOWED, '/api/v1/workflows': 'GET', '/api/v1/workflows/nothing': 'GET' };
    const readable = Object.entries(known).filter(
      ([path, allow]) => allow.startsWith('GET') && path !== EMBED_PATH,
    );
    expect(readable.length).toBeGreaterThan(15);
    for (const [path] of readable) {
      const get = await service.fetch(path, { headers });
      const head = await service.fetch(path, { method: 'HEAD', headers });
      expect([path, head.status, head.headers.get('content-type'), await head.text()]).toEqual([
        path,
        get.status,
        get.headers.get('content-type'),
        '',
      ]);
    }
  });

  describe('the body of a form', () => {
    const body = () => `grant_type=${encodeURIComponent(GRANT_TYPE)}&subject_token=${partner.sign()}`;
    const login = () => `token=${partner.sign()}`;
    const post = (path: string, content: string | Buffer, headers: Record<string, string>) =>
      service.fetch(path, { method: 'POST', body: content, headers });

    it('[D57] must not be compressed, at both endpoints', async () => {
      const headers = { 'content-type': FORM, 'content-encoding': 'gzip' };
      const exchange = await post(EXCHANGE_PATH, gzipSync(body()), headers);
      expect([exchange.status, exchange.headers.get('accept-encoding')]).toEqual([415, 'identity']);
      expect(await exchange.json()).toEqual({
        error: 'invalid_request',
        error_description: 'The body must not have a Content-Encoding',
      });
      const embed = await post(EMBED_PATH, gzipSync(login()), headers);
      expect([embed.status, embed.headers.get('accept-encoding')]).toEqual([415, 'identity']);
      expect(await embed.json()).toEqual({
        error: 'content_encoding_not_supported',
        message: 'The body must not have a Content-Encoding',
      });
    });

    it('[D57] must be UTF-8, and the refusal suggests no encoding', async () => {
      const headers = { 'content-type': `${FORM}; charset=windows-1252` };
      const answers = [await post(EXCHANGE_PATH, body(), headers), await post(EMBED_PATH, login(), headers)];
      for (const answer of answers) {
        expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, null]);
        expect(await answer.text()).toContain('The charset must be UTF-8');
      }
    });
  });
});

/** What the description says of each path, with ids in the place of parameters. */
async function pathsOfApi(service: TestService): Promise<Record<string, string>> {
  const description = (await (await service.fetch('/api/v1/openapi.json')).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const described = Object.entries(description.paths).filter(([path]) => path.startsWith('/api/v1/'));
  return Object.fromEntries(
    described.map(([path, operations]) => {
      const target = path.replace('{type}', 'postgres').replaceAll(/\{\w+\}/g, ID);
      const methods = new Set(Object.keys(operations));
      if (methods.has('get')) methods.add('head');
      return [target, [...methods].join(', ').toUpperCase()];
    }),
  );
}
