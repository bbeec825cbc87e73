// The permission matrix: every party × every operation, expected by the table of rights.
import type { Right } from '../../src/workspace/rights/rights.js';
import { INSTANCE_RIGHTS, PROJECT_RIGHTS, RIGHTS } from '../../src/workspace/rights/rights.js';
import type { DescribedOperation } from '../support/api-client.js';
import { ApiClient } from '../support/api-client.js';
import { RECIPES, requestFor } from '../support/api-recipes.js';
import type { Party } from '../support/api-world.js';
import { ApiWorld, PARTIES } from '../support/api-world.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { deleteUser } from '../support/local-users.js';
import { TestService } from '../support/test-service.js';

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

describeOnAnyDatabase('the permission matrix', (database) => {
  const service = TestService.forBlock(database);
  const api = ApiClient.forBlock(service);
  const world = ApiWorld.forBlock(service);

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

  it('[D47] members see the workflows and projects of their own projects, administrators and the owner all', async () => {
    const projectId = await world.createProject();
    const workflowId = await world.createWorkflow(projectId);
    for (const { name, role, projectRole } of PARTIES) {
      const token = await world.tokenOf(name);
      const ids = async (list: string) =>
        (await api.all(`/api/v1/${list}`, token)).map(({ id }) => String(id));
      const isSeen = role !== 'global:member' || projectRole !== undefined;
      expect([name, (await ids('workflows')).includes(workflowId)]).toEqual([name, isSeen]);
      expect([name, (await ids('projects')).includes(projectId)]).toEqual([name, isSeen]);
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
