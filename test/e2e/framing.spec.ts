// Who may frame the instance and post logins to it, as its answers say it.
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { cookieOf, login as loginBy, sessionHashOf } from '../support/logins.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { withService } from '../support/with-service.js';

const PRODUCT = 'https://product.example';
const OTHER = 'https://other.example';
const picky = Partner.create({ issuer: 'https://picky.example', audience: BASE_URL });
const open = Partner.create({ issuer: 'https://open.example', audience: BASE_URL });

/** Addresses in several spellings, and some that do not exist. */
const UNFRAMED = [
  ...['/api', '/api/v1/workflows', '/api/v1/unknown', '/api/v1/openapi.json', '/api/v1/docs', '/API/v1/docs'],
  ...['/api/v1/docs/reference.js', '/%61pi/v1/docs', '/ap%69', '/%61p%'],
];

const ancestorsIn = (answer: Response) =>
  /frame-ancestors ([^;]*)/.exec(answer.headers.get('content-security-policy') ?? '')?.[1];

describeOnAnyDatabase('[5.5.3] framing', (database) => {
  it.each([
    ['by listed origins', { SVC_EMBED_FRAME_ANCESTORS: `${PRODUCT}, ${OTHER}` }, `${PRODUCT} ${OTHER}`, null],
    ['as a reverse proxy says', {}, undefined, null],
    ['by nobody while embedded login is off', { SVC_EMBED_LOGIN_ENABLED: 'false' }, "'none'", 'DENY'],
  ])('%s', async (_, environment, ancestors, frameOptions) => {
    await withService(database, { environment }, async (service) => {
      for (const path of ['/', '/rest/me', '/nowhere']) {
        const answer = await service.fetch(path);
        expect([path, ancestorsIn(answer)]).toEqual([path, ancestors]);
        expect(answer.headers.get('x-frame-options')).toBe(frameOptions);
      }
    });
  });

  it('[D111] is forbidden for the API and its reference, and allowed for failed logins', async () => {
    const trustedKeys = [picky.staticEntry({ origins: [PRODUCT] })];
    await withService(database, { trustedKeys }, async (service) => {
      for (const path of UNFRAMED) {
        const { headers } = await service.fetch(path);
        expect([path, headers.get('x-frame-options')]).toEqual([path, 'DENY']);
        expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      }
      for (const path of ['/', '/apis', '/rest/api', '/rest/auth/embed'])
        expect([path, ancestorsIn(await service.fetch(path))]).toEqual([path, PRODUCT]);
    });
  });
});

describeOnAnyDatabase('[5.5.3] the page for the script of a host page', (database) => {
  const trustedKeys = [picky.staticEntry({ origins: [PRODUCT, OTHER] })];
  const environment = { SVC_EMBED_FRAME_ANCESTORS: 'https://portal.example' };
  const service = TestService.forBlock(database, { trustedKeys, environment });
  const page = (host: string) => service.fetch(`/frame?host=${encodeURIComponent(host)}`);

  it.each([
    ['an origin of an entry', PRODUCT, PRODUCT],
    ['an origin of the setting', 'https://portal.example', 'https://portal.example'],
    ['an unknown origin', 'https://evil.example', 'https://portal.example'],
    ['the end of a directive', `${PRODUCT}; script-src *`, 'https://portal.example'],
  ])('[5.5.3][D50] names one origin: for %s', async (_, host, ancestors) => {
    expect(ancestorsIn(await page(host))).toBe(ancestors);
    const check = await service.fetch(`/frame/check?host=${encodeURIComponent(host)}`);
    expect(check.headers.get('access-control-allow-origin')).toBe('*');
    expect(await check.json()).toEqual({ allowed: host === ancestors, baseUrl: BASE_URL });
  });

  it('[5.5.3] is never kept, runs no script of others, and may be shown by a page with an embedder policy', async () => {
    const { headers } = await page(PRODUCT);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('cross-origin-embedder-policy')).toBe('require-corp');
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    const policy = headers.get('content-security-policy');
    for (const directive of [
      "script-src 'self'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
      expect(policy).toContain(directive);
  });

  it('[D141] contains the time for proofs and the address of the instance', async () => {
    const [, baseUrl, time] =
      /data-base-url="(.*?)" data-server-time="(.*?)"/.exec(await (await page(PRODUCT)).text()) ?? [];
    expect(baseUrl).toBe(BASE_URL);
    expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(60);
  });

  it('[5.5.3] cannot be framed while embedded login is off, and is left to a reverse proxy if nothing is listed', async () => {
    await withService(database, { environment: { SVC_EMBED_LOGIN_ENABLED: 'false' } }, async (off) => {
      expect(ancestorsIn(await off.fetch(`/frame?host=${PRODUCT}`))).toBe("'none'");
    });
    await withService(database, { environment: {} }, async (open) => {
      expect(ancestorsIn(await open.fetch(`/frame?host=${PRODUCT}`))).toBeUndefined();
      expect(await (await open.fetch(`/frame/check?host=${PRODUCT}`)).json()).toMatchObject({
        allowed: true,
      });
    });
  });
});

describeOnAnyDatabase('[P.origins] the origin of a login', (database) => {
  const trustedKeys = [picky.staticEntry({ origins: [PRODUCT] }), open.staticEntry()];
  const service = TestService.forBlock(database, { trustedKeys });
  const login = (partner: Partner, origin?: string, token = partner.sign()) =>
    service.embed({ token }, origin === undefined ? {} : { origin });
  const hostOrigin = async (answer: Response) => {
    const cookie = cookieOf(answer);
    const me = await service.fetch('/rest/me', { headers: { cookie } });
    return ((await me.json()) as { hostOrigin: string | null }).hostOrigin;
  };

  it('[P.origins] a listed origin passes, and so does a client without the header', async () => {
    expect((await login(picky, PRODUCT)).status).toBe(303);
    expect((await login(picky)).status).toBe(303);
  });

  it.each<['GET' | 'POST', Record<string, string>]>([
    ['POST', { origin: OTHER }],
    ['POST', { 'sec-fetch-site': 'cross-site' }],
    ['GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }],
  ])(
    '[P.origins][K27] a login by %s with %j is refused by an entry with other origins, and the token stays unused',
    async (method, headers) => {
      const token = picky.sign();
      const answer = await loginBy(service, method, { token }, headers);
      expect(answer.status).toBe(401);
      expect(await answer.json()).toEqual({
        error: 'origin_not_allowed',
        message: 'Login is not accepted from this origin',
      });
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect((await login(picky, PRODUCT, token)).status).toBe(303);
    },
  );

  it('[D25] the session keeps the origin of its login, and shows it only to its own page', async () => {
    const answer = await login(open, OTHER);
    expect(await hostOrigin(answer)).toBe(OTHER);
    const hash = sessionHashOf(answer.headers.get('set-cookie') ?? '');
    expect(
      await service.rows('SELECT login_origin FROM token_exchange_session WHERE id_hash = $1', [hash]),
    ).toEqual([{ login_origin: OTHER }]);
    const authorization = `Bearer ${await service.accessToken({ subject_token: open.sign() })}`;
    const bearer = await service.fetch('/rest/me', { headers: { authorization } });
    expect(await bearer.json()).toMatchObject({ hostOrigin: null });
  });
});
