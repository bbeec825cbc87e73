// An access token of the instance that is for another service, on every route of the application.
import { randomUUID } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import type { Route } from '../support/routes.js';
import { routesOf } from '../support/routes.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const ELSEWHERE = 'https://reports.example/api';
/** Near misses of the own one, too. */
const AUDIENCES = [ELSEWHERE, `${BASE_URL}/`, `${BASE_URL}/api/v1`, BASE_URL.toUpperCase(), ''];

describeOnAnyDatabase('[P.resources] an access token for another service', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  const trustedKeys = [partner.staticEntry({ resources: [ELSEWHERE] })];
  const service = TestService.forBlock(database, { trustedKeys });
  const world = ApiWorld.forBlock(service);
  let routes: Route[];

  beforeAll(async () => {
    routes = routesOf(service);
  });
  const answerTo = ({ method, path }: Route, token?: string): Promise<Response> =>
    service.fetch(
      path.replaceAll(/:\w+/g, () => randomUUID()),
      {
        method,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      },
    );
  /** Those that ask nobody who they are answer as if no credential were there. */
  const takeABearer = async (): Promise<Route[]> => {
    const statuses = await Promise.all(routes.map(async (route) => (await answerTo(route)).status));
    return routes.filter((_, index) => statuses[index] === 401);
  };

  it('every route is known: those of the API, of the session, and the open ones', async () => {
    const open =
      /^\/($|healthz|metrics|\.well-known|api\/v1\/(docs|openapi\.json)|assets|renewed|sign-out|favicon|embed\.)/;
    const flows = ['oauth/token', 'oauth/revoke', 'embed', 'backchannel-logout'].map(
      (name) => `/rest/auth/${name}`,
    );
    const closed = routes.filter(({ path }) => !open.test(path) && !flows.includes(path));
    expect(await takeABearer()).toEqual(closed);
    expect(closed.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/rest/me', '/rest/auth/logout', '/api/v1/users/:userId']),
    );
    expect(closed.length).toBeGreaterThan(25);
  });

  it.each(AUDIENCES)('[P.resources] with the audience %j is no caller, even an owner’s', async (audience) => {
    const token = await world.tokenOf('owner', { audience });
    for (const route of await takeABearer()) {
      const answer = await answerTo(route, token);
      expect([route, answer.status]).toEqual([route, 401]);
      const body = await answer.text();
      if (route.method === 'HEAD') expect(body).toBe('');
      else expect(JSON.parse(body)).toMatchObject({ error: 'invalid_token' });
    }
  });

  it('[P.resources] changes nothing on the routes that need no caller', async () => {
    const token = await world.tokenOf('owner', { audience: ELSEWHERE });
    const closed = await takeABearer();
    for (const route of routes.filter((each) => !closed.includes(each))) {
      const [without, withToken] = [await answerTo(route), await answerTo(route, token)];
      expect([route, withToken.status]).toEqual([route, without.status]);
    }
  });

  it('[P.resources] the owner’s own token passes all of them, so that the audience it is', async () => {
    const token = await world.tokenOf('owner');
    for (const route of await takeABearer())
      expect([route, (await answerTo(route, token)).status]).not.toEqual([route, 401]);
  });

  it('[P.resources] as an exchange gives it, is none for this instance', async () => {
    const elsewhere = await service.accessToken({ subject_token: partner.sign(), resource: ELSEWHERE });
    const here = await service.accessToken({ subject_token: partner.sign() });
    const me = { method: 'GET', path: '/rest/me' };
    expect([(await answerTo(me, elsewhere)).status, (await answerTo(me, here)).status]).toEqual([401, 200]);
  });
});
