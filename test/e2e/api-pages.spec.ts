// Pages: with rows coming and going between them nothing is seen twice, and nothing that stayed is missed.
import type { ApiAnswer } from '../support/api-client.js';
import { ApiClient } from '../support/api-client.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnEachDatabase } from '../support/databases.js';
import type { Random } from '../support/random.js';
import { randomFrom } from '../support/random.js';
import { isMainScope } from '../support/series.js';
import { TestService } from '../support/test-service.js';

const PROJECTS = 9;
const ROWS = 120;
const SEEDS = isMainScope ? [1] : [1, 2, 3];

describeOnEachDatabase('the pages of a list', (database) => {
  const service = TestService.forBlock(database);
  const api = ApiClient.forBlock(service);
  const world = ApiWorld.forBlock(service);
  let projects: string[];
  let memberId: string;

  beforeAll(async () => {
    memberId = await world.createUser();
    projects = [];
    for (let count = 0; count < PROJECTS; count++) projects.push(await world.createProject());
    for (const projectId of projects.slice(0, PROJECTS - 2))
      await world.addMember(projectId, memberId, 'project:viewer');
  });
  /** The lists, each with what belongs in it. The workflows crowd in one project, as they do in life. */
  const LISTS = [
    { name: 'workflows of an administrator', path: '/workflows', where: 'true' },
    { name: 'workflows of one name', path: '/workflows?name=A', where: "name = 'A'" },
    { name: 'workflows by name', path: '/workflows?sort=name', where: 'true' },
    { name: 'workflows that are searched for', path: '/workflows?search=b', where: "name = 'B'" },
    { name: 'workflows of a member', path: '/workflows', where: 'visible', isMember: true },
    { name: '[4.5.3] credentials', path: '/credentials', where: 'true', table: 'credential' },
  ] as const;

  const insert = async (table: string, count: number, random: Random) => {
    for (let done = 0; done < count; done++) {
      const projectId = random.below(2) === 0 ? projects[0] : random.pick(projects);
      if (table === 'credential')
        await service.rows(
          "INSERT INTO credential (id, project_id, name, type, sealed_data) VALUES (gen_random_uuid(), $1, 'A', 'httpBasicAuth', '')",
          [projectId],
        );
      else
        await service.rows(
          "INSERT INTO workflow (id, project_id, name, active, nodes, connections) VALUES (gen_random_uuid(), $1, $2, $3, '[]', '{}')",
          [projectId, random.pick(['A', 'B']), random.below(2) === 0],
        );
    }
  };
  const idsOf = async (table: string, where: string): Promise<Set<string>> => {
    const visible = `project_id IN (SELECT project_id FROM project_member WHERE user_id = '${memberId}')`;
    const rows = await service.rows<{ id: string }>(
      `SELECT id FROM ${table} WHERE ${where.replace('visible', visible)}`,
    );
    return new Set(rows.map(({ id }) => id));
  };
  const deleteSome = (table: string, count: number) =>
    service.rows(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} ORDER BY random() LIMIT ${count})`,
    );

  describe.each(LISTS)('$name', ({ path, where, ...rest }) => {
    const table = 'table' in rest ? rest.table : 'workflow';

    it.each(SEEDS)('show all that stayed, once, in order (seed %i)', async (seed) => {
      const random = randomFrom(seed);
      const token = 'isMember' in rest ? await world.token(memberId) : await world.tokenOf('administrator');
      await service.rows(`DELETE FROM ${table}`);
      await insert(table, random.below(ROWS), random);
      const atStart = await idsOf(table, where);
      const ever = new Set(atStart);
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const query = `${path.includes('?') ? '&' : '?'}limit=${1 + random.below(25)}${cursor && `&cursor=${cursor}`}`;
        const page: ApiAnswer = await api.get(`/api/v1${path}${query}`, token);
        expect(page.status).toBe(200);
        seen.push(...page.body.data.map(({ id }: { id: string }) => id));
        cursor = page.body.nextCursor;
        await insert(table, random.below(5), random);
        for (const id of await idsOf(table, where)) ever.add(id);
        await deleteSome(table, random.below(5));
      }
      const stayed = [...(await idsOf(table, where))].filter((id) => atStart.has(id));
      expect(stayed.filter((id) => !seen.includes(id))).toEqual([]);
      expect(seen.filter((id) => !ever.has(id))).toEqual([]);
      const once = [...new Set(seen)];
      expect(seen).toEqual(table === 'credential' ? once.sort() : once);
    });
  });

  it.each(['users', 'projects', 'workflows', 'credentials'])(
    '%s: a full last page has no next one',
    async (list) => {
      const token = await world.tokenOf('owner');
      if (list === 'credentials') await world.createCredential(projects[0] ?? '');
      if (list === 'workflows') await world.createWorkflow(projects[0] ?? '');
      const all = await api.all(`/api/v1/${list}`, token);
      expect(all.length).toBeGreaterThan(0);
      const exactly = await api.get(`/api/v1/${list}?limit=${all.length}`, token);
      expect([exactly.body.data.length, exactly.body.nextCursor]).toEqual([all.length, null]);
      expect(await api.all(`/api/v1/${list}`, token, 1)).toEqual(all);
    },
  );

  it('answers 100 unless asked otherwise, and at most 250', async () => {
    const token = await world.tokenOf('owner');
    await insert('workflow', 260, randomFrom(7));
    const sizeOf = async (query: string) =>
      (await api.get(`/api/v1/workflows${query}`, token)).body.data?.length;
    expect([await sizeOf(''), await sizeOf('?limit=250'), await sizeOf('?limit=1')]).toEqual([100, 250, 1]);
  });

  /** Of any list, of none, and at either end of one. */
  const FORGED = ['0', 'f']
    .map((digit) => '00000000-0000-0000-0000-000000000000'.replaceAll('0', digit))
    .flatMap((id) =>
      ['', ' ', 'zzz', `2001-01-01T00:00:00.${'0'.repeat(400)}Z`, '9999-12-31T23:59:59.999999Z'].map(
        (key) => `${id} ${key}`,
      ),
    )
    .concat('1 ', 'x y')
    .map((text) => Buffer.from(text).toString('base64url'))
    .concat('0__', `${'9'.repeat(18)}_0_${'9'.repeat(14)}`, `${'9'.repeat(19)}__`);

  it('shows a member nothing more by a cursor of a user who sees all, or by a forged one', async () => {
    await insert('workflow', 20, randomFrom(9));
    await insert('credential', 20, randomFrom(9));
    const [owner, member] = [await world.tokenOf('owner'), await world.token(memberId)];
    for (const list of ['workflow', 'credential']) {
      const [visible, hidden] = [await idsOf(list, 'visible'), await idsOf(list, 'NOT visible')];
      expect(hidden.size).toBeGreaterThan(0);
      const { nextCursor } = (await api.get(`/api/v1/${list}s?limit=1`, owner)).body;
      const orders = list === 'workflow' ? ['', '&sort=name'] : [''];
      let shown = 0;
      for (const order of orders)
        for (const cursor of [nextCursor, ...FORGED]) {
          const path = `/api/v1/${list}s?limit=250${order}&cursor=${cursor}`;
          const { status, body } = await api.get(path, member);
          expect([path, [200, 400, 403].includes(status)]).toEqual([path, true]);
          const ids = ((body.data ?? []) as { id: string }[]).map(({ id }) => id);
          expect(ids.filter((id) => !visible.has(id))).toEqual([]);
          shown += ids.length;
        }
      if (list === 'workflow') expect(shown).toBeGreaterThan(0);
    }
  });

  it.each([
    ['limit=0', 'limit must be a whole number from 1 to 250'],
    ['limit=1&limit=2', 'limit must be given once'],
    ['cursor=', 'cursor must be the nextCursor of an earlier page of this list'],
    ['cursor=AAAA', 'cursor must be the nextCursor of an earlier page of this list'],
    ['active=1', 'active must be true or false'],
    ['projectId=x', 'projectId must be a UUID'],
    ['name=%00', 'name has characters that cannot be stored'],
    ['sort=id', 'sort must be one of updatedAt, name'],
    [`search=${'A'.repeat(129)}`, 'search must be a string of at most 128 characters'],
    [
      'offset=3',
      'The query has an unknown parameter; known are limit, cursor, active, name, projectId, sort, search',
    ],
  ])('refuses ?%s', async (query, message) => {
    const answer = await api.get(`/api/v1/workflows?${query}`, await world.tokenOf('owner'));
    expect([answer.status, answer.body.message]).toEqual([400, message]);
  });
});
