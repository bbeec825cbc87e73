// Embedded login over real HTTP: login, redirect, refusals, the cookie, the session's lifetime, and logout.
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase, describeOnEachDatabase } from '../support/databases.js';
import { login, LOGIN_METHODS, meStatus, sessionHashOf, sessionIdOf } from '../support/logins.js';
import { REDIRECTS } from '../support/redirect-targets.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { withService } from '../support/with-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];

describeOnAnyDatabase('[4.1] embedded login', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });

  const token = (claims: Members = {}) => partner.sign(partner.claims(claims));
  const me = async (cookie: string) => (await service.fetch('/rest/me', { headers: { cookie } })).json();

  describe.each(LOGIN_METHODS)('by %s', (method) => {
    it('[4.1] verifies, provisions, opens a session and redirects', async () => {
      const answer = await login(service, method, { token: token({ sub: `new-${method}` }) });
      const cookie = answer.headers.get('set-cookie') ?? '';
      expect(answer.status).toBe(303);
      expect(answer.headers.get('location')).toBe('/');
      expect(cookie).toContain('SameSite=None');
      expect(cookie).toContain('Secure');
      expect(await me(cookie.split(';')[0] ?? '')).toMatchObject({
        user: { email: `new-${method}@partner.example`, role: 'global:member' },
        authentication: 'session',
      });
    });

    it.each([
      ['nothing at all', {}],
      ['an empty token', { token: '' }],
      ['other fields only', { jwt: 'x', redirectTo: '/x' }],
    ])('[4.1.1] %s: 400 token_missing', async (_, fields) => {
      const answer = await login(service, method, fields);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toEqual({ error: 'token_missing', message: expect.any(String) });
    });

    it.each(REDIRECTS)('[4.1.2][D24][K26] redirectTo %j: 303 to %s', async (redirectTo, location) => {
      const answer = await login(service, method, { token: token(), redirectTo });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, location]);
    });
  });

  it('[D25] each login sets a new cookie of 256 random bits with exactly the attributes of D25', async () => {
    const first = (await service.embed({ token: token() })).headers.getSetCookie();
    expect(first).toHaveLength(1);
    const [pair = '', ...attributes] = (first[0] ?? '').split('; ');
    expect(pair).toMatch(/^__Host-svc-session=[\w-]{43}$/);
    expect(attributes.sort()).toEqual(
      ['HttpOnly', 'Secure', 'SameSite=None', 'Path=/', 'Max-Age=3600', 'Partitioned'].sort(),
    );
    const again = await service.embed({ token: token() }, { cookie: pair });
    const second = again.headers.get('set-cookie') ?? '';
    expect(sessionIdOf(second)).not.toBe(sessionIdOf(pair));
    // A client cannot choose the session id.
    const chosen = await service.embed(
      { token: token() },
      { cookie: `__Host-svc-session=${'A'.repeat(43)}` },
    );
    expect(sessionIdOf(chosen.headers.get('set-cookie') ?? '')).not.toBe('A'.repeat(43));
  });

  it('[D28] logout deletes the session and clears both the partitioned and the unpartitioned cookie', async () => {
    const cookie = await service.sessionCookie(token());
    const answer = await service.post('/rest/auth/logout', {}, { cookie, origin: BASE_URL });
    expect([answer.status, ...answer.headers.getSetCookie()]).toEqual([
      204,
      '__Host-svc-session=; Max-Age=0; Path=/; HttpOnly; Secure; Partitioned; SameSite=None',
      '__Host-svc-session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=None',
    ]);
    const hash = sessionHashOf(cookie);
    expect(await service.rows('SELECT 1 FROM token_exchange_session WHERE id_hash = $1', [hash])).toEqual([]);
    expect(await meStatus(service, cookie)).toBe(401);
  });
});

describeOnAnyDatabase('[D57] a login by GET that a browser prefetches', (database) => {
  const environment = { SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1' };
  const service = TestService.forBlock(database, { trustedKeys, environment });

  it('[7.9] gets 425, uses up neither the token nor the limit, and the later navigation signs in', async () => {
    const token = partner.sign();
    const marks: Record<string, string>[] = [
      { 'sec-purpose': 'prefetch' },
      { 'sec-purpose': 'prefetch;prerender' },
      { 'sec-purpose': 'Prefetch;anonymous-client-ip' },
      { purpose: 'prefetch' },
      { 'x-moz': 'prefetch' },
      { 'x-purpose': 'preview' },
    ];
    for (const mark of marks) {
      const answer = await login(service, 'GET', { token }, mark);
      expect([mark, answer.status, await answer.json()]).toMatchObject([mark, 425, { error: 'prefetch' }]);
      expectNoEntry(answer);
    }
    expect(await service.rows('SELECT name FROM audit_event')).toEqual([]);
    expect(await service.rows('SELECT 1 FROM token_exchange_used_jti')).toEqual([]);
    expect((await login(service, 'GET', { token }, { purpose: 'navigation' })).status).toBe(303);
  });

  it('is refused only by GET: a POST with such a header signs in', async () => {
    const posted = await withService(database, { trustedKeys }, (other) =>
      other.embed({ token: partner.sign() }, { 'sec-purpose': 'prefetch' }),
    );
    expect(posted.status).toBe(303);
  });
});

describeOnEachDatabase('[D26] the lifetime of a session', (database) => {
  it.each([
    ['3600 seconds by default', {}, 3600],
    ['the configured time', { SVC_EMBED_SESSION_TTL_SECONDS: '60' }, 60],
  ])('[D26] is %s from the login, whether or not it is used', async (_, environment, seconds) => {
    const clock = new TestClock();
    await withService(database, { trustedKeys, environment, clock }, async (service) => {
      const token = partner.sign(partner.claims({ iat: clock.nowSeconds() }));
      const set = (await service.embed({ token })).headers.get('set-cookie') ?? '';
      const cookie = set.split(';')[0] ?? '';
      expect(set).toContain(`Max-Age=${seconds};`);
      clock.advance(seconds / 2);
      expect(await meStatus(service, cookie)).toBe(200);
      clock.advance(seconds / 2 - 0.001);
      expect(await meStatus(service, cookie)).toBe(200);
      clock.advance(0.001);
      expect(await meStatus(service, cookie)).toBe(401);
    });
  });
});

describeOnAnyDatabase('[D27] plain HTTP and the cookie', (database) => {
  const warnings = ({ log }: TestService) =>
    log.filter(({ level, msg }) => level === 'warn' && String(msg).includes('X-Forwarded-Proto')).length;

  it('[D27] without a trusted proxy, logins work and cause one warning per minute, whatever headers they have', async () => {
    const clock = new TestClock();
    const fresh = () => partner.sign(partner.claims({ iat: clock.nowSeconds() }));
    const environment = { SVC_PROXY_HOPS: '0' };
    await withService(database, { trustedKeys, clock, environment }, async (service) => {
      const logIn = async () =>
        (await service.embed({ token: fresh() }, { 'x-forwarded-proto': 'https' })).status;
      expect([await logIn(), warnings(service)]).toEqual([303, 1]);
      clock.advance(59);
      expect([await logIn(), await logIn(), warnings(service)]).toEqual([303, 303, 1]);
      clock.advance(1);
      expect([await logIn(), warnings(service)]).toEqual([303, 2]);
    });
  });

  it('[D27] a trusted proxy that forwards https causes no warning, one that forwards http does', async () => {
    const environment = { SVC_PROXY_HOPS: '1' };
    await withService(database, { trustedKeys, environment }, async (service) => {
      const over = (scheme: string) =>
        service.embed({ token: partner.sign() }, { 'x-forwarded-proto': scheme });
      expect([(await over('https')).status, warnings(service)]).toEqual([303, 0]);
      expect([(await over('http')).status, warnings(service)]).toEqual([303, 1]);
    });
  });

  it('[D27] Strict-Transport-Security is only sent if a trusted proxy forwards https', async () => {
    const hstsOf = async (service: TestService, path: string, headers = {}) =>
      (await service.fetch(path, { headers })).headers.get('strict-transport-security');
    const https = { 'x-forwarded-proto': 'https' };
    for (const [hops, sent] of [
      ['1', 'max-age=31536000; includeSubDomains'],
      ['0', null],
    ] as const)
      await withService(database, { trustedKeys, environment: { SVC_PROXY_HOPS: hops } }, async (service) => {
        for (const path of ['/healthz', '/rest/me', '/api/v1/workflows', '/nowhere'])
          expect([path, await hstsOf(service, path), await hstsOf(service, path, https)]).toEqual([
            path,
            null,
            sent,
          ]);
      });
  });

  it('[D25] SVC_EMBED_COOKIE_PARTITIONED=false omits Partitioned', async () => {
    const environment = { SVC_EMBED_COOKIE_PARTITIONED: 'false' };
    await withService(database, { trustedKeys, environment }, async (service) => {
      const set = (await service.embed({ token: partner.sign() })).headers.get('set-cookie') ?? '';
      const attributes = (header: string) => header.split('; ').slice(1).sort();
      expect(attributes(set)).toEqual(['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=None', 'Secure']);
    });
  });
});

/** [7.9] A refusal is JSON, does not redirect and sets no cookie. */
function expectNoEntry(answer: Response): void {
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('location')).toBeNull();
  expect(answer.headers.get('set-cookie')).toBeNull();
}
