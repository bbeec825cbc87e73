// What callers of the API may do by role, project role and scopes, and the events of their calls.
import { randomUUID } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import type { Principal } from '../../src/access/authentication.service.js';
import { StoredEntryService } from '../../src/token-exchange/trust/stored/stored-entry.service.js';
import type { Right } from '../../src/workspace/rights/rights.js';
import { INSTANCE_RIGHTS, PROJECT_RIGHTS, RIGHTS, SCOPES } from '../../src/workspace/rights/rights.js';
import type { ApiAnswer, DescribedOperation } from '../support/api-client.js';
import { ApiClient } from '../support/api-client.js';
import { RECIPES, requestFor } from '../support/api-recipes.js';
import type { Party } from '../support/api-world.js';
import { ApiWorld, PARTIES } from '../support/api-world.js';
import { eventsOf } from '../support/audit.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { deleteUser } from '../support/local-users.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const REFUSALS = { forbidden: 403, unseen: 404 };

/** By the words of the rule: what one may not see answers 404, what one may see and not change 403. */
function expectedStatus({ right, path, isList, statuses }: DescribedOperation, party: Party): number {
  const success = Math.min(...statuses);
  const rights = [
    ...RIGHTS[party.role],
    ...(party.projectRole === undefined ? [] : RIGHTS[party.projectRole]),
  ];
  const isNarrowed = isList || path.endsWith('-count');
  const isNarrowedList = isNarrowed && !path.includes('{') && PROJECT_RIGHTS.some((each) => each === right);
  if (right === undefined || isNarrowedList || rights.includes(right as Right)) return success;
  const isWholeInstance = INSTANCE_RIGHTS.some((each) => each === right) && !path.includes('{');
  const isSeen = rights.includes(right.replace(/:.*/, ':read') as Right);
  return isWholeInstance || isSeen ? REFUSALS.forbidden : REFUSALS.unseen;
}

const METADATA = `resource_metadata="${BASE_URL}/.well-known/oauth-protected-resource"`;
const LIMITED = ['workflow:read', 'workflow:write'];
const CALLED = 'svc.audit.api.called';
const CHANGED = 'svc.audit.user.changed';
const acme = Partner.create({ issuer: 'https://acme.example', kid: 'a', audience: BASE_URL });
const mallory = Partner.create({ issuer: 'https://mallory.example', kid: 'm', audience: BASE_URL });

describeOnAnyDatabase('callers of the API', (database) => {
  const service = TestService.forBlock(database);
  const api = ApiClient.forBlock(service);
  const world = ApiWorld.forBlock(service);

  describe('the permission matrix', () => {
    it('uses each right of the table', () => {
      const used = new Set(api.operations.map(({ right }) => right));
      expect([...INSTANCE_RIGHTS, ...PROJECT_RIGHTS].filter((right) => !used.has(right))).toEqual([]);
    });

    it.each(PARTIES)('[D30] $name: every operation answers by the table', async (party) => {
      const token = await world.tokenOf(party.name);
      const [actual, expected] = [{}, {}] as [Record<string, number>, Record<string, number>];
      for (const operation of api.operations) {
        const { path, body } = await requestFor(RECIPES, operation, world);
        const name = `${operation.method} ${operation.path}`;
        expected[name] = expectedStatus(operation, party);
        actual[name] = (await api.call({ method: operation.method, path, token, body })).status;
      }
      expect(actual).toEqual(expected);
      expect(new Set(Object.values(expected)).size).toBeGreaterThan(1);
    });

    it.each(PARTIES)('[D41] $name: a session may the same, from this instance only', async (party) => {
      const cookie = await world.sessionOf(party.name);
      for (const operation of api.operations.filter(({ method }) => method !== 'GET')) {
        const { path, body } = await requestFor(RECIPES, operation, world);
        const send = (headers: Record<string, string>) =>
          api.call({ method: operation.method, path, body, headers: { cookie, ...headers } });
        for (const origin of [undefined, 'https://evil.example', 'null']) {
          const refused = await send(origin === undefined ? {} : { origin });
          expect([refused.status, refused.body?.error]).toEqual([403, 'csrf_refused']);
        }
        const answer = await send({ origin: 'https://instance.example' });
        expect([path, answer.status]).toEqual([path, expectedStatus(operation, party)]);
      }
    });

    it('[D30] the loss of a role limits the next call with a live token', async () => {
      const projectId = await world.createProject();
      const path = `/api/v1/workflows/${await world.createWorkflow(projectId)}`;
      const userId = await world.createUser('global:admin');
      const token = await world.token(userId);
      const rename = async () => (await api.patch(path, token, { name: 'Again' })).status;
      expect(await rename()).toBe(200);
      await service.rows("UPDATE user_account SET role = 'global:member' WHERE id = $1", [userId]);
      expect(await rename()).toBe(404);
      await world.addMember(projectId, userId, 'project:viewer');
      expect(await rename()).toBe(403);
      await service.rows("UPDATE project_member SET role = 'project:editor' WHERE user_id = $1", [userId]);
      expect(await rename()).toBe(200);
      await service.rows('DELETE FROM project_member WHERE user_id = $1 AND project_id = $2', [
        userId,
        projectId,
      ]);
      expect(await rename()).toBe(404);
    });

    it('[D7] a deleted actor is not replaced by the subject', async () => {
      const [subject, actor] = [await world.createUser(), await world.createUser()];
      const token = await world.token(subject, actor);
      expect((await api.get('/api/v1/projects', token)).status).toBe(200);
      await deleteUser(service, actor);
      expect((await api.get('/api/v1/projects', token)).status).toBe(401);
    });

    it('[D23] the answers for a missing and for a hidden object are the same', async () => {
      const [hidden, nowhere] = [await world.createProject(), '00000000-0000-4000-8000-000000000000'];
      const token = await world.tokenOf('stranger');
      const bodies = await Promise.all(
        [hidden, nowhere, 'not-an-id', '%00'].map(
          async (id) => (await api.get(`/api/v1/projects/${id}`, token)).text,
        ),
      );
      expect(new Set(bodies)).toEqual(new Set(['{"error":"not_found","message":"Not found"}']));
    });
  });

  describe('[P.scopes] an access token that is limited to scopes', () => {
    const limitedTo = (grantedScopes: readonly string[], party = 'owner') =>
      world.tokenOf(party, { grantedScopes });
    const send = async (operation: DescribedOperation, token: string): Promise<ApiAnswer> => {
      const { path, body } = await requestFor(RECIPES, operation, world);
      return api.call({ method: operation.method, path, token, body });
    };
    const successOf = ({ statuses }: DescribedOperation) => Math.min(...statuses);
    const needing = () => api.operations.filter(({ right }) => right !== undefined);

    it('[P.scopes] may call what its scope is for, with any role: each operation, with that scope alone', async () => {
      for (const operation of needing()) {
        const { status } = await send(operation, await limitedTo([operation.right ?? '']));
        expect([operation.method, operation.path, status]).toEqual([
          operation.method,
          operation.path,
          successOf(operation),
        ]);
      }
    });

    it('[P.scopes] may call nothing else: each operation, with every other scope', async () => {
      for (const operation of needing()) {
        const right = operation.right ?? '';
        const answer = await send(operation, await limitedTo(SCOPES.filter((scope) => scope !== right)));
        expect([operation.path, answer.status, answer.body]).toEqual([
          operation.path,
          403,
          {
            error: 'insufficient_scope',
            message: `The access token lacks the scope ${right}`,
            requestId: answer.headers.get('x-request-id'),
          },
        ]);
        expect(answer.headers.get('www-authenticate')).toBe(
          `Bearer error="insufficient_scope", scope="${right}", ${METADATA}`,
        );
      }
    });

    it('[P.scopes] gets no right by a scope that its users have not', async () => {
      const projectId = await world.createProject();
      const workflow = `/api/v1/workflows/${await world.createWorkflow(projectId)}`;
      const all = (party: string) => limitedTo(SCOPES, party);
      expect((await api.patch(workflow, await all('viewer'), { name: 'x' })).body.error).toBe('forbidden');
      expect((await api.get(workflow, await all('stranger'))).status).toBe(404);
      expect((await api.get('/api/v1/users', await all('editor'))).body.error).toBe('forbidden');
    });

    it('[P.scopes] may call what needs no right, and see itself, and sign out of nothing', async () => {
      const token = await limitedTo(['nothing:here']);
      const headers = { authorization: `Bearer ${token}` };
      for (const operation of api.operations.filter(({ right }) => right === undefined))
        expect([operation.path, (await send(operation, token)).status]).toEqual([operation.path, 200]);
      const scopesOf = async (authorization: string) =>
        (await service.fetch('/rest/me', { headers: { authorization } })).json();
      expect(await scopesOf(headers.authorization)).toMatchObject({ scopes: ['nothing:here'] });
      expect(await scopesOf(`Bearer ${await world.tokenOf('owner')}`)).toMatchObject({ scopes: null });
      expect((await service.fetch('/rest/auth/logout', { method: 'POST', headers })).status).toBe(204);
    });

    it('[P.scopes] gets the same answer whether a thing is there, is hidden, or cannot be', async () => {
      const there = await world.createWorkflow(await world.createProject());
      const nonsense = (method: string) => (method === 'PATCH' ? { nonsense: 1 } : undefined);
      for (const party of ['owner', 'viewer', 'stranger'])
        for (const method of ['GET', 'PATCH', 'DELETE']) {
          const token = await limitedTo(['project:read'], party);
          const answers = await Promise.all(
            [there, randomUUID(), 'no-id', '%00'].map((id) =>
              api.call({ method, path: `/api/v1/workflows/${id}`, token, body: nonsense(method) }),
            ),
          );
          const told = answers.map(({ status, body, headers }) => [
            status,
            body.error,
            body.message,
            headers.get('www-authenticate'),
          ]);
          expect(new Set(told.map(String)).size).toBe(1);
          expect(told[0]?.[1]).toBe('insufficient_scope');
        }
    });

    it('[P.scopes] gets no button that it cannot press', async () => {
      const projectId = await world.createProject();
      const path = `/api/v1/workflows/${await world.createWorkflow(projectId)}`;
      const list = `/api/v1/workflows?projectId=${projectId}`;
      const editable = async (token: string) => [
        (await api.get(path, token)).body.canEdit,
        ...(await api.all(list, token)).map(({ canEdit }) => canEdit),
      ];
      expect(await editable(await limitedTo(['workflow:read']))).toEqual([false, false]);
      expect(await editable(await limitedTo(LIMITED))).toEqual([true, true]);
      expect(await editable(await world.tokenOf('owner'))).toEqual([true, true]);
    });

    it('[P.scopes] the description asks of each operation the scope that the service asks', () => {
      const asked = api.operations.map(({ method, path, scopes }) => [method, path, scopes]);
      const enforced = api.operations.map(({ method, path, right }) => [
        method,
        path,
        right === undefined ? [] : [right],
      ]);
      expect(asked).toEqual(enforced);
      expect(new Set(api.operations.flatMap(({ scopes }) => scopes))).toEqual(new Set(SCOPES));
    });
  });

  describe('the events of calls that change something', () => {
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

  describe('[D73] trust in issuers', () => {
    beforeAll(async () => {
      await service.part(StoredEntryService).add(acme.staticEntry({ name: 'acme' }));
      await until('the entry is trusted', 60_000, async () => (await exchanged(acme)) === 200);
    });
    const exchanged = async (partner: Partner) =>
      (await service.exchange({ subject_token: partner.sign() })).status;
    const trust = async () => [
      await service.rows('SELECT * FROM token_exchange_stored_entry'),
      await service.rows(
        `SELECT count(*) AS changes FROM audit_event WHERE name LIKE '%stored-entry-changed'`,
      ),
      [await exchanged(acme), await exchanged(mallory)],
    ];
    const credentials = async (): Promise<Record<string, string>[]> => [
      { authorization: `Bearer ${await world.tokenOf('owner')}` },
      { cookie: await world.sessionOf('owner'), origin: BASE_URL },
    ];

    it('[D73] is changed by no operation of the API, even if it succeeds', async () => {
      const before = await trust();
      for (const operation of api.operations)
        for (const headers of await credentials()) {
          const request = await requestFor(RECIPES, operation, world);
          const answer = await api.call({ method: operation.method, ...request, headers });
          expect([operation.path, answer.status]).toEqual([operation.path, Math.min(...operation.statuses)]);
        }
      expect(await trust()).toEqual(before);
    });
  });
});
