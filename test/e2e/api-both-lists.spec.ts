// With the rights of both, lists contain exactly what is in the actor's list and in the subject's.
import { PROJECT_ROLES } from '../../src/workspace/rights/rights.js';
import { ApiClient } from '../support/api-client.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { randomFrom } from '../support/random.js';
import { TestService } from '../support/test-service.js';

const SEED = Number(process.env['TEST_SEED'] ?? 20261122);

describeOnEachDatabase(`[D30] lists of what both see (seed ${SEED})`, (database) => {
  const PROJECTS = 24;
  const service = TestService.forBlock(database);
  const api = ApiClient.forBlock(service);
  const world = ApiWorld.forBlock(service);
  let users: string[];
  let tokens: Map<string, string>;

  beforeAll(async () => {
    const random = randomFrom(SEED);
    users = [];
    const [member, admin] = ['global:member', 'global:admin'] as const;
    for (const role of [member, member, member, admin, admin]) users.push(await world.createUser(role));
    for (let count = 0; count < PROJECTS; count++) {
      const projectId = await world.createProject();
      for (const id of users)
        if (random.below(2) === 0) await world.addMember(projectId, id, random.pick(PROJECT_ROLES));
      for (let workflow = 0; workflow < random.below(5); workflow++) {
        const id = await world.createWorkflow(projectId, random.pick(['Order 1', 'Import of all', 'Rare']));
        if (random.below(3) === 0)
          await service.rows('UPDATE workflow SET active = true WHERE id = $1', [id]);
      }
    }
    tokens = new Map();
    for (const id of users) tokens.set(id, await world.token(id));
  });

  const LISTS = [
    'projects',
    'workflows',
    'workflows?active=true',
    'workflows?name=Rare',
    'workflows?sort=name&active=false',
    'workflows?search=ord',
    'workflows?sort=name&search=r',
  ];
  const pairs = () =>
    users.flatMap((actor) => users.filter((id) => id !== actor).map((subject) => ({ actor, subject })));
  const idsOf = async (path: string, token = '') =>
    (await api.all(`/api/v1/${path}`, token, 7)).map(({ id }): string => id);
  const alone = (id: string) => tokens.get(id) ?? '';

  it.each(LISTS)(
    '[D30] %s contains in all pages, in order, exactly the items that both users see',
    async (path) => {
      const lists = new Map<string, string[]>();
      for (const id of users) lists.set(id, await idsOf(path, alone(id)));
      let narrowed = 0;
      for (const { actor, subject } of pairs()) {
        const [one, other] = [lists.get(actor) ?? [], lists.get(subject) ?? []];
        const common = one.filter((id) => other.includes(id));
        if (common.length > 0 && common.length < Math.min(one.length, other.length)) narrowed += 1;
        const token = await world.token(subject, actor, { rights: 'both' });
        expect(await idsOf(path, token)).toEqual(common);
      }
      expect(narrowed).toBeGreaterThan(0);
    },
  );

  it('[D30] a workflow is editable if both may edit it', async () => {
    for (const { actor, subject } of pairs()) {
      const editable = async (token: string) => {
        const workflows = await api.all('/api/v1/workflows', token);
        return new Map(workflows.map(({ id, canEdit }): [string, boolean] => [id, canEdit]));
      };
      const [one, other] = [await editable(alone(actor)), await editable(alone(subject))];
      for (const [id, canEdit] of await editable(await world.token(subject, actor, { rights: 'both' })))
        expect(canEdit).toBe(one.get(id) === true && other.get(id) === true);
    }
  });
});
