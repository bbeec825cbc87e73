// Who a request is: by session or by Bearer credential, never by both, and never from another site.
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { jsonOf } from '../support/answers.js';
import { ApiClient } from '../support/api-client.js';
import { RECIPES, requestFor } from '../support/api-recipes.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { cookieOf, meStatus } from '../support/logins.js';
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

const REFUSAL = {
  error: 'session_of_another_user',
  message: 'Another user has signed in in this browser',
  hostOrigin: null,
  requestId: expect.any(String),
};
/** What is there instead of the id of the cookie's user. */
const OTHERS = ['', 'x', '00000000-0000-4000-8000-000000000000', '__proto__', 'é'];

describeOnEachDatabase('[D41] sessions and credentials', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });

  const token = (claims: Members = {}) => partner.sign(partner.claims(claims));
  const get = (path: string, headers: Record<string, string> = {}) => service.fetch(path, { headers });
  const logout = (headers: Record<string, string | undefined>) =>
    service.post('/rest/auth/logout', {}, JSON.parse(JSON.stringify(headers)));
  const bearer = async (fields = {}) =>
    `Bearer ${await service.accessToken({ subject_token: token(), ...fields })}`;

  it.each(FOREIGN_ORIGINS)(
    '[D41] a session does not write with Origin %j: 403, and the session continues',
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

  it('[D41] a Bearer request does not affect the session of a sent cookie', async () => {
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
  ])('[D41] Authorization %j gets 401, even beside a good cookie', async (authorization) => {
    const cookie = await service.sessionCookie(token());
    for (const path of ['/rest/me', '/api/v1/workflows']) {
      expectChallenge(await get(path, { cookie, authorization }));
    }
    expectChallenge(await logout({ cookie, authorization, origin: BASE_URL }));
    expect(await meStatus(service, cookie)).toBe(200);
  });

  it.each(['', 'x', '%zz', '"', 'A'.repeat(43), '%00', ';;=;', 'ü'])(
    'a cookie of %j gets 401',
    async (value) => {
      const cookie = Buffer.from(`__Host-svc-session=${value}`, 'utf8').toString('latin1');
      expectChallenge(await get('/rest/me', { cookie }));
    },
  );

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

  describe('[D51] X-Session-User', () => {
    const api = ApiClient.forBlock(service);
    const world = ApiWorld.forBlock(service);
    let cookie: string;
    let own: string;
    let other: string;

    beforeAll(async () => {
      cookie = await world.sessionOf('administrator');
      own = world.idOf('administrator');
      other = world.idOf('owner');
    });
    const me = (headers: Record<string, string>) => service.fetch('/rest/me', { headers });
    const logout = (headers: Record<string, string>) =>
      service.post('/rest/auth/logout', {}, { origin: BASE_URL, ...headers });
    /** All that a refused call could have changed. */
    const contents = async () => {
      const tables = [
        'user_account',
        'project',
        'project_member',
        'workflow',
        'credential',
        'token_exchange_session',
      ];
      const texts = tables.map(
        (table) => `(SELECT string_agg(t::text, ' ' ORDER BY t::text) FROM ${table} t) AS ${table}`,
      );
      return service.rows(`SELECT ${texts.join(', ')}, (SELECT count(*) FROM audit_event) AS events`);
    };

    it('[D51] of another user is refused by every operation of the API with 409, without effect', async () => {
      for (const operation of api.operations) {
        const request = await requestFor(RECIPES, operation, world);
        const before = await contents();
        const headers = { cookie, origin: BASE_URL, 'x-session-user': other };
        const answer = await api.call({ method: operation.method, ...request, headers });
        expect([operation.path, answer.status, answer.body]).toEqual([operation.path, 409, REFUSAL]);
        expect(answer.headers.get('set-cookie')).toBeNull();
        expect(await contents()).toEqual(before);
      }
      expect(await meStatus(service, cookie)).toBe(200);
    });

    it('[D51] is refused by /rest/me and sign-out too, and the session continues', async () => {
      for (const named of [other, ...OTHERS]) {
        const headers = { cookie, 'x-session-user': Buffer.from(named).toString('latin1') };
        for (const answer of [await me(headers), await logout(headers)]) {
          expect([named, answer.status, await answer.json()]).toEqual([named, 409, REFUSAL]);
          expect(answer.headers.get('set-cookie')).toBeNull();
        }
      }
      expect(await meStatus(service, cookie)).toBe(200);
    });

    it('[D51] with two values is refused', async () => {
      expect((await me({ cookie, 'x-session-user': `${own}, ${other}` })).status).toBe(409);
      expect((await me({ cookie, 'x-session-user': `${own}, ${own}` })).status).toBe(409);
    });

    it('[D51] may be written in upper case', async () => {
      expect((await me({ cookie, 'x-session-user': own.toUpperCase() })).status).toBe(200);
    });

    it('[D51] is ignored beside Authorization', async () => {
      const authorization = `Bearer ${await world.tokenOf('administrator')}`;
      for (const named of [own, other, ...OTHERS]) {
        const headers = { authorization, 'x-session-user': Buffer.from(named).toString('latin1') };
        expect([named, (await me(headers)).status]).toEqual([named, 200]);
        expect([named, (await me({ ...headers, cookie })).status]).toEqual([named, 200]);
        expect([named, (await logout({ ...headers, cookie })).status]).toEqual([named, 204]);
      }
      expect((await me({ cookie, authorization: 'Bearer x', 'x-session-user': own })).status).toBe(401);
      expect(await meStatus(service, cookie)).toBe(200);
    });

    it('[D51] signs no user in: without a live session the answer is 401', async () => {
      const bad = `__Host-svc-session=${'A'.repeat(43)}`;
      for (const without of ['', bad, 'x-session-user=1'])
        for (const named of [own, other]) {
          const answer = await me({ cookie: without, 'x-session-user': named });
          expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'invalid_token' }]);
        }
    });

    it('[D51] is refused with the page that posted the other login, and nothing about its user', async () => {
      const token = partner.sign(partner.claims({ sub: 'bert' }));
      const login = await service.embed({ token }, { origin: 'https://product.example' });
      const bert = cookieOf(login);
      const answer = await me({ cookie: bert, 'x-session-user': other });
      expect(await answer.json()).toEqual({ ...REFUSAL, hostOrigin: 'https://product.example' });
    });

    it('[D51] has a counterpart in renewals: one with its user refuses the token of another', async () => {
      const token = (sub: string) => partner.sign(partner.claims({ sub, email: `${sub}@partner.example` }));
      const carl = await service.sessionCookie(token('carl'));
      const { user } = (await (await me({ cookie: carl })).json()) as { user: { id: string } };
      const refused = { error: 'session_of_another_user', message: 'The session belongs to another user' };
      const unknownUser = token('dora');
      const answer = await service.embed({ token: unknownUser, userId: user.id }, { cookie: carl });
      expect([answer.status, await answer.json()]).toEqual([401, refused]);
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect(await service.rows("SELECT 1 FROM user_account WHERE email = 'dora@partner.example'")).toEqual(
        [],
      );
      expect(await meStatus(service, carl)).toBe(200);
      const again = await service.embed({ token: unknownUser });
      expect(await again.json()).toMatchObject({ error: 'token_replayed' });

      const own = await service.embed({ token: token('carl'), userId: user.id }, { cookie: carl });
      expect(own.status).toBe(303);
      expect((await service.embed({ token: token('carl'), userId: '' })).status).toBe(303);
    });
  });
});

function expectChallenge(answer: Response): void {
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
}
