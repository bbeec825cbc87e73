// Whose session a page means: on every route that takes the cookie, and what becomes of a request meant for somebody else.
import { Partner } from '../../demo/partner.js';
import { ApiClient } from '../support/api-client.js';
import { RECIPES, requestFor } from '../support/api-recipes.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { cookieOf, meStatus } from '../support/logins.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const REFUSAL = {
  error: 'session_of_another_user',
  message: 'Another user has signed in in this browser',
  hostOrigin: null,
  requestId: expect.any(String),
};
/** What is there instead of the id of the cookie's user. */
const OTHERS = ['', 'x', '00000000-0000-4000-8000-000000000000', '__proto__', 'é'];

describeOnEachDatabase('[D51] X-Session-User', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });
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

  it('[D51] every operation of the API refuses a session of another user: 409, nothing read, nothing done', async () => {
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

  it("[D51] every operation answers the cookie's own user, named or not, as ever", async () => {
    for (const operation of api.operations)
      for (const isNamed of [true, false]) {
        const request = await requestFor(RECIPES, operation, world);
        const headers = { cookie, origin: BASE_URL, ...(isNamed ? { 'x-session-user': own } : {}) };
        const { status } = await api.call({ method: operation.method, ...request, headers });
        expect([operation.path, status]).toEqual([operation.path, Math.min(...operation.statuses)]);
      }
  });

  it('[D51] /rest/me and sign-out refuse it too, and the session goes on', async () => {
    for (const named of [other, ...OTHERS]) {
      const headers = { cookie, 'x-session-user': Buffer.from(named).toString('latin1') };
      for (const answer of [await me(headers), await logout(headers)]) {
        expect([named, answer.status, await answer.json()]).toEqual([named, 409, REFUSAL]);
        expect(answer.headers.get('set-cookie')).toBeNull();
      }
    }
    expect(await meStatus(service, cookie)).toBe(200);
  });

  it('[D51] two values are not one user', async () => {
    expect((await me({ cookie, 'x-session-user': `${own}, ${other}` })).status).toBe(409);
    expect((await me({ cookie, 'x-session-user': `${own}, ${own}` })).status).toBe(409);
  });

  it('[D51] letters of an id have no case', async () => {
    expect((await me({ cookie, 'x-session-user': own.toUpperCase() })).status).toBe(200);
  });

  it('[D51] the own id signs out', async () => {
    const session = await world.sessionOf('viewer');
    const answer = await logout({ cookie: session, 'x-session-user': world.idOf('viewer') });
    expect(answer.status).toBe(204);
    expect(await meStatus(service, session)).toBe(401);
  });

  it('[D51] beside Authorization it is ignored, with any name', async () => {
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

  it('[D51] it signs no user in: without a live session 401, with any name', async () => {
    const bad = `__Host-svc-session=${'A'.repeat(43)}`;
    for (const without of ['', bad, 'x-session-user=1'])
      for (const named of [own, other]) {
        const answer = await me({ cookie: without, 'x-session-user': named });
        expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'invalid_token' }]);
      }
  });

  it('[D51] the refusal names the page which posted the other login, and nothing of its user', async () => {
    const token = partner.sign(partner.claims({ sub: 'bert' }));
    const login = await service.embed({ token }, { origin: 'https://product.example' });
    const bert = cookieOf(login);
    const answer = await me({ cookie: bert, 'x-session-user': other });
    expect(await answer.json()).toEqual({ ...REFUSAL, hostOrigin: 'https://product.example' });
  });

  it('[D51] a renewal that names its user refuses the token of another, and changes nothing but that', async () => {
    const token = (sub: string) => partner.sign(partner.claims({ sub, email: `${sub}@partner.example` }));
    const carl = await service.sessionCookie(token('carl'));
    const { user } = (await (await me({ cookie: carl })).json()) as { user: { id: string } };
    const refused = { error: 'session_of_another_user', message: 'The session is that of another user' };
    const unknownUser = token('dora');
    for (const cookie of [carl, '']) {
      const answer = await service.embed({ token: token('anna'), userId: user.id }, { cookie });
      expect([answer.status, await answer.json()]).toEqual([401, refused]);
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
    const answer = await service.embed({ token: unknownUser, userId: user.id }, { cookie: carl });
    expect(answer.status).toBe(401);
    expect(await service.rows("SELECT 1 FROM user_account WHERE email = 'dora@partner.example'")).toEqual([]);
    expect(await meStatus(service, carl)).toBe(200);
    const again = await service.embed({ token: unknownUser });
    expect(await again.json()).toMatchObject({ error: 'token_replayed' });

    const own = await service.embed({ token: token('carl'), userId: user.id }, { cookie: carl });
    expect(own.status).toBe(303);
    expect((await service.embed({ token: token('carl'), userId: '' })).status).toBe(303);
  });
});
