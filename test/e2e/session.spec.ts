// Who a request is: by session or by Bearer credential, never by both, and never from another site.
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { jsonOf } from '../support/answers.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { meStatus, sessionHashOf, sessionIdOf } from '../support/logins.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const EMAIL = 'customer-1@partner.example';

/** Every `Origin` that a browser, or somebody else, might send. */
const FOREIGN_ORIGINS = [
  undefined,
  '',
  'null',
  'https://partner.example',
  'http://instance.example',
  'https://instance.example:8443',
  'https://instance.example.evil.example',
  'https://sub.instance.example',
  `${BASE_URL}/`,
  `${BASE_URL}, https://partner.example`,
];

describeOnEachDatabase('[D41] sessions and credentials', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });

  const token = (claims: Members = {}) => partner.sign(partner.claims(claims));
  const get = (path: string, headers: Record<string, string> = {}) => service.fetch(path, { headers });
  const logout = (headers: Record<string, string | undefined>) =>
    service.post('/rest/auth/logout', {}, JSON.parse(JSON.stringify(headers)));
  const bearer = async (fields = {}) =>
    `Bearer ${await service.accessToken({ subject_token: token(), ...fields })}`;

  it.each(FOREIGN_ORIGINS)(
    '[D41] a session does not write with Origin %j: 403, and lives on',
    async (origin) => {
      const cookie = await service.sessionCookie(token());
      const answer = await logout({ cookie, origin });
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ error: 'csrf_refused' });
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect(await meStatus(service, cookie)).toBe(200);
    },
  );

  it("[D41] a session writes with the instance's own Origin, and reads with any", async () => {
    const cookie = await service.sessionCookie(token());
    for (const origin of FOREIGN_ORIGINS) {
      const headers = { cookie, ...(origin === undefined ? {} : { origin }) };
      expect([origin, (await get('/rest/me', headers)).status]).toEqual([origin, 200]);
    }
    expect((await logout({ cookie, origin: BASE_URL })).status).toBe(204);
  });

  it.each([...FOREIGN_ORIGINS, BASE_URL])(
    '[D41] a Bearer credential writes with Origin %j',
    async (origin) => {
      expect((await logout({ authorization: await bearer(), origin })).status).toBe(204);
    },
  );

  it('[D41] a Bearer request does not touch the session whose cookie comes along', async () => {
    const cookie = await service.sessionCookie(token({ sub: 'cookie-owner' }));
    const me = await get('/rest/me', { cookie, authorization: await bearer() });
    expect(await me.json()).toMatchObject({ user: { email: EMAIL }, authentication: 'access_token' });
    await logout({ cookie, authorization: await bearer(), origin: BASE_URL });
    expect(await meStatus(service, cookie)).toBe(200);
  });

  it.each([
    'Bearer',
    'Bearer x.y.z',
    'Bearer a b',
    'Bearer eyJhbGciOiJub25lIn0.e30.',
    'Basic dTpw',
    'Negotiate',
    '',
  ])('[D41] Authorization %j alone decides, also beside a good cookie: 401', async (authorization) => {
    const cookie = await service.sessionCookie(token());
    for (const path of ['/rest/me', '/api/v1/workflows']) {
      expectChallenge(await get(path, { cookie, authorization }));
    }
    expectChallenge(await logout({ cookie, authorization, origin: BASE_URL }));
    expect(await meStatus(service, cookie)).toBe(200);
  });

  it.each(['', 'x', '%zz', '"', 'A'.repeat(43), '%00', ';;=;', 'ü'])(
    'a cookie of %j is nobody: 401',
    async (value) => {
      const cookie = Buffer.from(`__Host-svc-session=${value}`, 'utf8').toString('latin1');
      expectChallenge(await get('/rest/me', { cookie }));
    },
  );

  it('no caller at all: 401 with a challenge that names no error (RFC 6750 §3)', async () => {
    for (const path of ['/rest/me', '/api/v1/workflows']) {
      const answer = await get(path);
      expectChallenge(answer);
      expect(answer.headers.get('www-authenticate')).not.toContain('error');
    }
    expectChallenge(await logout({ origin: BASE_URL }));
  });

  it('[4.3] /rest/me names the user of a session, of a token and of a token with an actor', async () => {
    const actor = token({ sub: 'robot', given_name: 'Ro', family_name: 'Bot' });
    const me = async (headers: Record<string, string>) =>
      jsonOf<{ expiresAt: string; expiresInSeconds: number }>(await get('/rest/me', headers));
    const subject = { id: expect.any(String), email: EMAIL, givenName: 'Robin', familyName: 'Castell' };
    const user = { ...subject, role: 'global:member' };
    const [bySession, byToken, byActor] = [
      await me({ cookie: await service.sessionCookie(token()) }),
      await me({ authorization: await bearer() }),
      await me({ authorization: await bearer({ actor_token: actor }) }),
    ];
    expect(bySession).toMatchObject({ user, onBehalfOf: null, authentication: 'session' });
    expect(byToken).toMatchObject({ user, onBehalfOf: null, authentication: 'access_token' });
    const robot = {
      email: 'robot@partner.example',
      givenName: 'Ro',
      familyName: 'Bot',
      role: 'global:member',
    };
    expect(byActor).toMatchObject({ user: robot, onBehalfOf: user, authentication: 'access_token' });
    const lifeSeconds = (Date.parse(bySession.expiresAt) - Date.now()) / 1000;
    expect(lifeSeconds).toBeGreaterThan(3500);
    expect(lifeSeconds).toBeLessThanOrEqual(3600);
    expect(Math.abs(bySession.expiresInSeconds - lifeSeconds)).toBeLessThan(60);
  });

  it('[D25] of a session nothing but the SHA-256 of its id is stored, anywhere', async () => {
    const cookie = await service.sessionCookie(token());
    const [row] = await service.rows('SELECT * FROM token_exchange_session WHERE id_hash = $1', [
      sessionHashOf(cookie),
    ]);
    expect(row).toBeDefined();
    const tables = await service.rows<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
    );
    expect(tables.length).toBeGreaterThan(5);
    const id = sessionIdOf(cookie);
    const forms = [id, Buffer.from(id, 'base64url').toString('hex'), Buffer.from(id).toString('hex')];
    for (const { name } of tables) {
      const [{ content = '' } = {}] = await service.rows<{ content: string }>(
        `SELECT coalesce(string_agg(t::text, ''), '') AS content FROM "${name}" t`,
      );
      for (const form of forms) expect([name, content.includes(form)]).toEqual([name, false]);
    }
  });
});

function expectChallenge(answer: Response): void {
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
}
