// The trail of the public API: every operation that changes data writes its event, with any credential.
import type { Principal } from '../../src/access/principal.js';
import { ApiClient } from '../support/api-client.js';
import { RECIPES, requestFor } from '../support/api-recipes.js';
import { ApiWorld } from '../support/api-world.js';
import { eventsOf } from '../support/audit.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const CALLED = 'svc.audit.api.called';
const CHANGED = 'svc.audit.user.changed';

describeOnAnyDatabase('the events of calls that change something', (database) => {
  const service = TestService.forBlock(database);
  const api = ApiClient.forBlock(service);
  const world = ApiWorld.forBlock(service);

  /** The headers of an administrator with each kind of credential, and the member of the event that names it. */
  const CREDENTIALS: Record<Principal['credential']['kind'], [() => Promise<object>, string]> = {
    session: [
      async () => ({ cookie: await world.sessionOf('administrator'), origin: BASE_URL }),
      'sessionFamilyId',
    ],
    access_token: [
      async () => ({ authorization: `Bearer ${await world.tokenOf('administrator')}` }),
      'accessTokenId',
    ],
  };
  const changing = () => api.operations.filter(({ method }) => method !== 'GET');

  /** The rows of a successful call. */
  const rowsOf = async (method: string, path: string, body: unknown, headers: object) => {
    const answer = await api.call({ method, path, body, headers: { ...headers } });
    expect([method, path, answer.status < 300]).toEqual([method, path, true]);
    return eventsOf(service, answer);
  };

  it.each(Object.entries(CREDENTIALS))('[4.2.3] each has one, by %s', async (_, [headersOf, proof]) => {
    const headers = await headersOf();
    expect(changing().length).toBeGreaterThan(10);
    for (const operation of changing()) {
      const { path, body } = await requestFor(RECIPES, operation, world);
      const rows = await rowsOf(operation.method, path, body, headers);
      const route = operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
      expect(rows).toContainEqual(
        expect.objectContaining({
          name: CALLED,
          subjectUserId: world.idOf('administrator'),
          payload: expect.objectContaining({
            method: operation.method,
            route,
            [proof]: expect.any(String),
          }),
        }),
      );
    }
  });

  it.each(Object.entries(CREDENTIALS))(
    'a change of a user says from what to what, by %s',
    async (_, [headersOf]) => {
      const [headers, email] = [await headersOf(), world.freshEmail()];
      const changes = async (method: string, path: string, body: unknown) => {
        const rows = await rowsOf(method, `/api/v1/users${path}`, body, headers);
        expect(JSON.stringify(rows)).not.toContain('@');
        return rows.filter(({ name }) => name === CHANGED);
      };
      const [made] = await changes('POST', '', { email, role: 'global:admin' });
      const id = String(made?.subjectUserId);
      const member = { role: 'global:member', enabled: true };
      const admin = { ...member, role: 'global:admin' };
      const event = (payload: object) => ({ actorUserId: world.idOf('administrator'), payload });
      expect(made).toMatchObject(event({ to: admin }));
      expect(await changes('PATCH', `/${id}`, { role: 'global:member' })).toEqual([
        expect.objectContaining({ subjectUserId: id, ...event({ from: admin, to: member }) }),
      ]);
      expect(await changes('PATCH', `/${id}`, { enabled: false })).toMatchObject([
        event({ from: member, to: { ...member, enabled: false } }),
      ]);
    },
  );
});
