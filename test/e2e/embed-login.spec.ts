// Embedded login over real HTTP: the login itself, the redirect, refusals, the cookie, its life, and logout.
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { LOGIN_METHODS, login, meStatus, sessionHashOf, sessionIdOf } from '../support/logins.js';
import { REDIRECTS } from '../support/redirect-targets.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });

describeOnAnyDatabase('[4.1] embedded login', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });

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

  it('[D25] the cookie is 256 random bits with exactly the decided attributes, on every login new', async () => {
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
    // Nobody hands in a session id of his own choice.
    const chosen = await service.embed(
      { token: token() },
      { cookie: `__Host-svc-session=${'A'.repeat(43)}` },
    );
    expect(sessionIdOf(chosen.headers.get('set-cookie') ?? '')).not.toBe('A'.repeat(43));
  });

  it('[D28] logout ends the session in the database and clears the cookie of both jars, whichever the setting has filled', async () => {
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
