// What an access token may do that is limited to scopes.
import { randomUUID } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import { SCOPES } from '../../src/workspace/rights/rights.js';
import type { ApiAnswer, DescribedOperation } from '../support/api-client.js';
import { ApiClient } from '../support/api-client.js';
import { RECIPES, requestFor } from '../support/api-recipes.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const METADATA = `resource_metadata="${BASE_URL}/.well-known/oauth-protected-resource"`;
const LIMITED = ['workflow:read', 'workflow:write'];

describeOnAnyDatabase('[P.scopes] an access token that is limited to scopes', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  const trustedKeys = [partner.staticEntry({ scopes: LIMITED })];
  const service = TestService.forBlock(database, { trustedKeys });
  const api = ApiClient.forBlock(service);
  const world = ApiWorld.forBlock(service);

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

  it('[P.scopes] is what an exchange gives where the entry has a ceiling', async () => {
    const token = await service.accessToken({
      subject_token: partner.sign(),
      scope: 'workflow:read user:write',
    });
    expect((await api.get('/api/v1/workflows', token)).status).toBe(200);
    const refused = await api.post('/api/v1/workflows', token, { name: 'x' });
    expect([refused.status, refused.body.error]).toEqual([403, 'insufficient_scope']);
    const whole = await service.accessToken({ subject_token: partner.sign() });
    expect((await api.post('/api/v1/workflows', whole, { name: 'x' })).status).toBe(201);
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
