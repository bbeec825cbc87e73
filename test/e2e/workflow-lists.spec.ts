// Sorted and searched lists of workflows, page by page, against a plain reading of the table; and how many there are.
import type { ApiAnswer } from '../support/api-client.js';
import { ApiClient } from '../support/api-client.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { TestService } from '../support/test-service.js';

const LIST = '/api/v1/workflows';
const ROWS = 4400;
/** One of them is crowded. */
const PROJECTS = 7;

/** A workflow as the table has it. */
interface Row {
  readonly id: string;
  readonly projectId: string;
  readonly active: boolean;
  readonly name: string;
  readonly updated: string;
}

const ROWS_AS_THEY_ARE = `SELECT id, project_id AS "projectId", active, name,
  to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS updated FROM workflow`;

type Query = Readonly<Record<string, string>>;

describeOnEachDatabase('sorted lists of workflows', (database) => {
  const service = TestService.forBlock(database);
  const api = ApiClient.forBlock(service);
  const world = ApiWorld.forBlock(service);
  let admin: string;
  let member: string;
  let memberOfOne: string;
  let projects: string[];
  let rows: Row[];
  const visible = new Map<string, readonly string[]>();

  beforeAll(async () => {
    projects = [];
    for (let count = 0; count < PROJECTS; count++) projects.push(await world.createProject());
    const memberOf = async (own: readonly string[]) => {
      const id = await world.createUser();
      for (const projectId of own) await world.addMember(projectId, id, 'project:viewer');
      return id;
    };
    const tokenOfMember = async (own: readonly string[]) => {
      const token = await world.token(await memberOf(own));
      visible.set(token, own);
      return token;
    };
    admin = await world.tokenOf('administrator');
    visible.set(admin, projects);
    member = await tokenOfMember(projects.slice(2));
    memberOfOne = await tokenOfMember(projects.slice(6));
    // Half of all crowd in one project; times and names are shared by many; few are active, and fewer are called rare.
    await service.rows(
      `INSERT INTO workflow (id, project_id, name, active, nodes, connections, updated_at)
       SELECT gen_random_uuid(), ($1::uuid[])[
           CASE WHEN n % 2 = 0 THEN 3 ELSE 1 + n % ${PROJECTS} END],
         CASE WHEN n % 997 = 0 THEN 'Rare ' ELSE '' END || (ARRAY['Order', 'order-import', 'Ordnung 50 %', 'Éclair', 'zoo_50'])[1 + n % 5]
           || ' ' || n % 40,
         n % 11 = 0, '[]', '{}', timestamptz '2026-01-01' + make_interval(secs => (n * 7919 % 600) + n % 3 / 1000000.0)
       FROM generate_series(1, ${ROWS}) n`,
      [projects],
    );
    rows = await service.rows<Row>(ROWS_AS_THEY_ARE);
  });

  /** What the list must be. */
  const expected = (token: string, { sort, search = '', active, projectId }: Query): string[] => {
    const seen = (visible.get(token) ?? []).filter((id) => projectId === undefined || id === projectId);
    const chosen = rows.filter(
      (row) =>
        seen.includes(row.projectId) &&
        (active === undefined || String(row.active) === active) &&
        row.name.toLowerCase().includes(search.toLowerCase()),
    );
    const sign = sort === 'name' ? 1 : -1;
    const keyOf = (row: Row) => (sort === 'name' ? row.name.toLowerCase() : row.updated);
    const compare = (one: string, other: string) => (one < other ? -1 : Number(one > other));
    return chosen
      .sort((one, other) => sign * (compare(keyOf(one), keyOf(other)) || compare(one.id, other.id)))
      .map(({ id }) => id);
  };
  const pathOf = (query: Query, list = LIST) => `${list}?${new URLSearchParams(query).toString()}`;
  const idsOf = (page: ApiAnswer): string[] => page.body.data.map(({ id }: { id: string }) => id);

  const SCOPES: Query[] = [{}, { active: 'true' }, { active: 'false' }];
  const SORTS: Query[] = [{ sort: 'updatedAt' }, { sort: 'name' }];
  /** The signs of a pattern stand for themselves. */
  const SEARCHES = ['', 'ORD', 'rare', 'Clair 17', '50 %', 'o_5', '\\', '%%'];
  const QUERIES = SORTS.flatMap((sort) =>
    SCOPES.flatMap((scope) => SEARCHES.map((search): Query => ({ ...sort, ...scope, search }))),
  );

  describe.each([
    ['an administrator', () => admin],
    ['a member of five projects', () => member],
    ['a member of one project', () => memberOfOne],
  ])('of %s', (_, tokenOf) => {
    it.each(QUERIES)('%j: the first three pages are those of the whole list', async (query) => {
      const whole = expected(tokenOf(), query);
      const ids: string[] = [];
      let cursor: string | null = '';
      for (let page = 0; page < 3 && cursor !== null; page++) {
        const answer = await api.get(pathOf({ ...query, limit: '67', ...(cursor && { cursor }) }), tokenOf());
        expect(answer.status).toBe(200);
        ids.push(...idsOf(answer));
        cursor = answer.body.nextCursor;
      }
      expect(ids).toEqual(whole.slice(0, 201));
      expect(cursor === null).toBe(whole.length <= 201);
    });

    it.each(SCOPES.flatMap((scope) => SEARCHES.map((search): Query => ({ ...scope, search }))))(
      '%j are counted, up to a thousand',
      async (query) => {
        const { length } = expected(tokenOf(), query);
        const answer = await api.get(pathOf(query, '/api/v1/workflow-count'), tokenOf());
        expect(answer.body).toEqual({ count: Math.min(length, 1000), hasMore: length > 1000 });
      },
    );

    it('of one project: sorted and searched, all pages together are the whole list', async () => {
      for (const projectId of projects.slice(1, 4))
        for (const query of SORTS.map((sort): Query => ({ ...sort, projectId, search: 'ord' }))) {
          const all = await api.all(pathOf(query), tokenOf(), 250);
          expect(all.map(({ id }) => id)).toEqual(expected(tokenOf(), query));
        }
    });
  });
});
