// Sorted and searched lists of workflows, page by page, against a plain reading of the table; and how many there are.
import type { ApiAnswer } from '../support/api-client.js';
import { ApiClient } from '../support/api-client.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { TestService } from '../support/test-service.js';

const LIST = '/api/v1/workflows';
/** Fewer than a search looks through at once. */
const ROWS = 4400;
/** A search for more rows than so many pages look through would never end. */
const MOST_PAGES = 30;
/** One of them is crowded. */
const PROJECTS = 7;

/** A workflow as the table has it. */
interface Row {
  readonly id: string;
  readonly projectId: string;
  readonly active: boolean;
  readonly folded: string;
  readonly updated: string;
}

const ROWS_AS_THEY_ARE = `SELECT id, project_id AS "projectId", active, folded_name AS folded,
  to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS updated FROM workflow`;

type Query = Readonly<Record<string, string>>;

describeOnEachDatabase('sorted lists of workflows', (database) => {
  let service: TestService;
  let api: ApiClient;
  let world: ApiWorld;
  let admin: string;
  let member: string;
  let memberOfOne: string;
  let projects: string[];
  let rows: Row[];
  const visible = new Map<string, readonly string[]>();

  beforeAll(async () => {
    service = await TestService.start(database);
    api = await ApiClient.connect(service);
    world = new ApiWorld(service);
    await world.createParties();
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
         CASE WHEN n % 997 = 0 THEN 'Rare ' ELSE '' END || (ARRAY['Order', 'order-import', 'Ordnung', 'Éclair', 'zoo'])[1 + n % 5]
           || ' ' || n % 40,
         n % 11 = 0, '[]', '{}', timestamptz '2026-01-01' + make_interval(secs => (n * 7919 % 600) + n % 3 / 1000000.0)
       FROM generate_series(1, ${ROWS}) n`,
      [projects],
    );
    rows = await service.rows<Row>(ROWS_AS_THEY_ARE);
  }, 60_000);
  afterAll(() => service?.stop());

  /** What the list must be. */
  const expected = (token: string, { sort, order, search = '', active, projectId }: Query): string[] => {
    const words = search.toLowerCase().match(/\w+/g) ?? [];
    const seen = (visible.get(token) ?? []).filter((id) => projectId === undefined || id === projectId);
    const chosen = rows.filter(
      (row) =>
        seen.includes(row.projectId) &&
        (active === undefined || String(row.active) === active) &&
        words.every((word) => ` ${row.folded}`.includes(` ${word}`)),
    );
    const sign = (order ?? (sort === 'name' ? 'asc' : 'desc')) === 'asc' ? 1 : -1;
    const keyOf = (row: Row) => (sort === 'name' ? row.folded : row.updated);
    const compare = (one: string, other: string) => (one < other ? -1 : Number(one > other));
    return chosen
      .sort((one, other) => sign * (compare(keyOf(one), keyOf(other)) || compare(one.id, other.id)))
      .map(({ id }) => id);
  };
  const pathOf = (query: Query, list = LIST) => `${list}?${new URLSearchParams(query).toString()}`;
  const idsOf = (page: ApiAnswer): string[] => page.body.data.map(({ id }: { id: string }) => id);

  const REST: Query[] = [{}, { active: 'true' }, { search: 'rare' }, { search: 'ord', active: 'false' }];
  const SCOPES: Query[] = [{}, { active: 'true' }, { active: 'false' }];
  const SORTS: Query[] = [
    { sort: 'updatedAt' },
    { sort: 'updatedAt', order: 'asc' },
    { sort: 'name' },
    { sort: 'name', order: 'desc' },
  ];
  const SEARCHES = ['', 'ord', 'rare', 'eclair 17', 'ord zoo'];
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
      for (let page = 0; page < MOST_PAGES && ids.length < 201 && cursor !== null; page++) {
        const answer = await api.get(pathOf({ ...query, limit: '67', ...(cursor && { cursor }) }), tokenOf());
        expect(answer.status).toBe(200);
        const found = idsOf(answer);
        // A page is short at the end of a list, or where a search has looked far enough.
        if (query['search'] === '') expect(found).toHaveLength(Math.min(67, whole.length - ids.length));
        ids.push(...found);
        cursor = answer.body.nextCursor;
      }
      expect(ids.slice(0, 201)).toEqual(whole.slice(0, 201));
      if (whole.length < 201) expect(cursor).toBeNull();
      if (whole.length > 201 + 67) expect(cursor).not.toBeNull();
    });

    it.each(SCOPES.flatMap((scope) => SEARCHES.map((search): Query => ({ ...scope, search }))))(
      '%j are counted, up to a thousand',
      async (query) => {
        const { length } = expected(tokenOf(), query);
        const answer = await api.get(pathOf(query, `${LIST}/count`), tokenOf());
        expect(answer.body).toEqual({ count: Math.min(length, 1000), hasMore: length > 1000 });
      },
    );

    it.each(SORTS)('%j: all pages together are the whole list', async (sort) => {
      const all = await api.all(pathOf({ ...sort, search: 'order' }), tokenOf(), 250);
      expect(all.map(({ id }) => id)).toEqual(expected(tokenOf(), { ...sort, search: 'order' }));
    });

    it('a search without a word leaves all, to the last page, and counts them', async () => {
      const query: Query = { sort: 'updatedAt', search: '!!!' };
      const whole = expected(tokenOf(), query);
      const all = await api.all(pathOf(query), tokenOf(), 250);
      expect(all.map(({ id }) => id)).toEqual(whole);
      const { body } = await api.get(pathOf({ search: '!!!' }, `${LIST}/count`), tokenOf());
      expect(body).toEqual({ count: Math.min(whole.length, 1000), hasMore: whole.length > 1000 });
    });

    it('of one project: sorted, searched and counted as well', async () => {
      for (const projectId of projects.slice(1, 4))
        for (const rest of REST) {
          const query: Query = { sort: 'name', projectId, ...rest };
          const whole = expected(tokenOf(), query);
          const first = idsOf(await api.get(pathOf(query), tokenOf()));
          expect(first).toEqual(whole.slice(0, rest['search'] === undefined ? 100 : first.length));
          const all = await api.all(pathOf(query), tokenOf(), 250);
          expect(all.map(({ id }) => id)).toEqual(whole);
          const count = await api.get(pathOf({ projectId, ...rest }, `${LIST}/count`), tokenOf());
          expect(count.body).toEqual({ count: Math.min(whole.length, 1000), hasMore: whole.length > 1000 });
        }
    });
  });

  // Last, since they change what the others expect.
  it.each(SORTS.flatMap((sort): Query[] => [sort, { ...sort, search: 'ord' }]))(
    '%j: what stays where it is is seen once, whatever comes, goes and changes',
    async (asked) => {
      const scope: Query = { ...asked, active: 'true', projectId: projects[2] ?? '' };
      const whole = expected(admin, scope);
      const touched = new Set<string>();
      const seen: string[] = [];
      for (let cursor: string | null = '', page = 0; cursor !== null; page++) {
        const answer: ApiAnswer = await api.get(
          pathOf({ ...scope, limit: '30', ...(cursor && { cursor }) }),
          member,
        );
        seen.push(...idsOf(answer));
        cursor = answer.body.nextCursor;
        const [changed = '', gone = ''] = [whole[page * 37], whole[page * 41 + 5]];
        for (const id of [changed, gone]) touched.add(id);
        await service.rows(`UPDATE workflow SET name = 'Moved', updated_at = now() WHERE id::text = $1`, [
          changed,
        ]);
        await service.rows('DELETE FROM workflow WHERE id::text = $1', [gone]);
        touched.add(await world.createWorkflow(projects[2] ?? '', 'Made just now'));
      }
      const stayed = whole.filter((id) => !touched.has(id));
      expect(stayed.length).toBeGreaterThan(80);
      expect(seen.filter((id) => !touched.has(id))).toEqual(stayed);
      rows = await service.rows<Row>(ROWS_AS_THEY_ARE);
    },
  );

  describe('in a list that is longer than a search looks at once', () => {
    beforeAll(async () => {
      await service.rows(
        `INSERT INTO workflow (id, project_id, name, active, nodes, connections, updated_at)
         SELECT gen_random_uuid(), $1, CASE WHEN n = 4567 THEN 'Zebra ' ELSE (ARRAY['Order ', 'Zoo '])[1 + n % 2] END || 'more ' || n, true, '[]', '{}',
           timestamptz '2026-02-01' + make_interval(secs => n)
         FROM generate_series(1, 9000) n`,
        [projects[3]],
      );
      rows = await service.rows<Row>(ROWS_AS_THEY_ARE);
    }, 30_000);

    it.each(SORTS.flatMap((sort): Query[] => [sort, { ...sort, active: 'true' }]))(
      '%j: page after page is looked through, also for what few names have',
      async (sort) => {
        for (const token of [admin, member])
          for (const search of ['zoo 17', 'order zoo', 'zebra']) {
            const query = { ...sort, search };
            const whole = expected(token, query);
            const ids: string[] = [];
            let pages = 0;
            for (let cursor: string | null = ''; cursor !== null; pages++) {
              const answer: ApiAnswer = await api.get(pathOf({ ...query, ...(cursor && { cursor }) }), token);
              ids.push(...idsOf(answer));
              cursor = answer.body.nextCursor;
              expect(pages).toBeLessThan(MOST_PAGES);
            }
            expect(ids).toEqual(whole);
          }
      },
    );

    it('a page ends where a search has looked far enough, and none is given for what the user may not see', async () => {
      const first = await api.get(pathOf({ sort: 'updatedAt', search: 'order zoo' }), admin);
      expect(first.body.data).toEqual([]);
      expect(first.body.nextCursor).not.toBeNull();
      // The end of a page is a place in the list of its reader: the cursor shows no other name.
      const { nextCursor } = (await api.get(pathOf({ sort: 'name', search: 'order zoo' }), member)).body;
      const key = Buffer.from(nextCursor, 'base64url').subarray(32).toString();
      const own = expected(member, { sort: 'name' });
      expect(rows.filter(({ id }) => own.includes(id)).map(({ folded }) => folded)).toContain(key);
    });

    it('a count says that there may be more', async () => {
      const count = async (search: string) =>
        (await api.get(pathOf({ search }, `${LIST}/count`), admin)).body;
      expect(await count('order zoo')).toEqual({ count: 0, hasMore: true });
      expect(await count('zebra mor')).toEqual({ count: 1, hasMore: true });
      expect(await count('more')).toEqual({ count: 1000, hasMore: true });
    });
  });
});
