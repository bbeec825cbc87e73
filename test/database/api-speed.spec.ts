// What a page of a list costs, in buffers of PostgreSQL, with a thousand rows and with two hundred thousand.
import pg from 'pg';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { CREDENTIAL_PAGE } from '../../src/workspace/credentials/credential.repository.js';
import type { SortedPageQuery } from '../../src/workspace/workflows/sorted-workflow-page.query.js';
import { sortedWorkflowPage } from '../../src/workspace/workflows/sorted-workflow-page.query.js';
import type { WorkflowCountQuery } from '../../src/workspace/workflows/workflow-count.query.js';
import { MAX_COUNT, workflowCount } from '../../src/workspace/workflows/workflow-count.query.js';
import type { WorkflowQuery } from '../../src/workspace/workflows/workflow-page.query.js';
import { workflowPage } from '../../src/workspace/workflows/workflow-page.query.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnPostgresql } from '../support/databases.js';

const FEW = 1_000;
const MANY = 200_000;
const AT_MOST_TIMES = 1.5;
/** A page of 100, and one row more that tells whether there is a next page. */
const LIMIT = 101;
const PROJECTS = 400;
/** Every second project. */
const MEMBERSHIPS = 200;
const MEMBER = uuid(1);
const MEMBER_OF_ONE = uuid(2);
/** Of as many projects, half of which are MEMBER's, too. */
const OTHER_MEMBER = uuid(3);
const BOTH = { memberId: MEMBER, otherMemberId: OTHER_MEMBER };
/** Three fifths of all rows lie before it, and for every filter a full page behind it. */
const DEEP = '99999999-0000-4000-8000-000000000000';

/** One fifth of all rows lies before it: what two see is less, and the ids are random. */
const DEEP_OF_BOTH = '33333333-0000-4000-8000-000000000000';

const PROJECT_SQL = (n: string) => `('00000000-0000-4000-9000-' || lpad((${n})::text, 12, '0'))::uuid`;
/** A quarter of all workflows is in one project; half of them are active, half have one name, whatever the other half. */
const CROWDED = 2;

const FILL = (rows: number) => [
  `INSERT INTO user_account (id, email, normalized_email, role)
   SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, n || '@b.example', n || '@b.example', 'global:member'
   FROM generate_series(1, 3) n`,
  `INSERT INTO project (id, type, name)
   SELECT ${PROJECT_SQL('n')}, 'team', 'Team ' || n FROM generate_series(1, ${PROJECTS}) n`,
  `INSERT INTO project_member (project_id, user_id, role)
   SELECT ${PROJECT_SQL('n * 2')}, '${MEMBER}', 'project:viewer' FROM generate_series(1, ${MEMBERSHIPS}) n`,
  `INSERT INTO project_member (project_id, user_id, role)
   SELECT ${PROJECT_SQL('n')}, '${OTHER_MEMBER}', 'project:viewer' FROM generate_series(1, ${PROJECTS}) n WHERE n % 4 < 2`,
  `INSERT INTO project_member VALUES ('${projectId(CROWDED)}', '${MEMBER_OF_ONE}', 'project:viewer')`,
  `INSERT INTO workflow (id, project_id, name, active, nodes, connections, updated_at)
   SELECT gen_random_uuid(), ${PROJECT_SQL(`CASE WHEN n % 4 = 0 THEN ${CROWDED} ELSE 1 + n % ${PROJECTS} END`)},
     CASE WHEN (n / 4) % 2 = 0 THEN 'Common' ELSE 'Name ' || n END, (n / 8) % 2 = 0,
     '[{"type": "start", "parameters": {"text": "as in a small workflow"}}]', '{}',
     timestamptz '2026-01-01' + make_interval(secs => n::bigint * 7919 % 345600)
   FROM generate_series(1, ${rows}) n`,
  `INSERT INTO credential (id, project_id, name, type, sealed_data)
   SELECT gen_random_uuid(), ${PROJECT_SQL(`1 + n % ${PROJECTS}`)}, 'Name ' || n, 'httpBasicAuth', '\\x00'
   FROM generate_series(1, ${rows}) n`,
];

/** A statement with its parameters. */
interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

const workflows = (filters: Omit<WorkflowQuery, 'limit'>): Statement => {
  const query = { ...filters, limit: LIMIT };
  const { text, values } = workflowPage(query);
  return { text, values: values(query) };
};
const sorted = (given: Omit<SortedPageQuery, 'limit'>): Statement => {
  const query = { ...given, limit: LIMIT };
  const { text, values } = sortedWorkflowPage(query);
  return { text, values: values(query) };
};
const counted = (query: WorkflowCountQuery): Statement => {
  const { text, values } = workflowCount(query);
  return { text, values: values(query) };
};
const BY_CHANGE = { sort: 'updatedAt', order: 'desc' } as const;
const BY_NAME = { sort: 'name', order: 'asc' } as const;
/** Three quarters of all rows lie before each. */
const DEEP_CHANGE = { after: { key: '2026-01-02T00:00:00.000000Z', id: DEEP } };
const DEEP_NAME = { after: { key: 'name 3', id: DEEP } };
const credentials = (afterId: string) => ({ text: CREDENTIAL_PAGE, values: [afterId, LIMIT] });

const PAGES: readonly (readonly [string, Statement])[] = [
  ['workflows, first page', workflows({})],
  ['workflows, deep page', workflows({ afterId: DEEP })],
  ['workflows by active', workflows({ active: true })],
  ['workflows by inactive, deep page', workflows({ active: false, afterId: DEEP })],
  ['workflows by name', workflows({ name: 'Common' })],
  ['workflows by name and active', workflows({ name: 'Common', active: true })],
  ['workflows by a name that nothing has', workflows({ name: 'none' })],
  ['workflows by project and active', workflows({ projectId: projectId(CROWDED), active: true })],
  ['workflows by project', workflows({ projectId: projectId(CROWDED) })],
  ['a member of 200 projects, first page', workflows({ memberId: MEMBER })],
  ['a member of 200 projects, deep page', workflows({ memberId: MEMBER, afterId: DEEP })],
  ['a member of 200 projects by active', workflows({ memberId: MEMBER, active: true })],
  ['a member of 200 projects by name', workflows({ memberId: MEMBER, name: 'Common' })],
  ['a member of 200 projects by a name that nothing has', workflows({ memberId: MEMBER, name: 'none' })],
  ['a member of 200 projects by project', workflows({ memberId: MEMBER, projectId: projectId(CROWDED) })],
  ['a member of one project', workflows({ memberId: MEMBER_OF_ONE })],
  ['two members of 200 projects, 100 of them in common', workflows(BOTH)],
  ['two members of 200 projects, deep page', workflows({ ...BOTH, afterId: DEEP_OF_BOTH })],
  ['two members of 200 projects by name', workflows({ ...BOTH, name: 'Common' })],
  ['workflows by last change', sorted(BY_CHANGE)],
  ['workflows by last change, deep page', sorted({ ...BY_CHANGE, ...DEEP_CHANGE })],
  ['workflows by last change, the first one first', sorted({ ...BY_CHANGE, order: 'asc' })],
  ['active workflows by last change, deep page', sorted({ ...BY_CHANGE, ...DEEP_CHANGE, active: true })],
  ['workflows in the order of names', sorted(BY_NAME)],
  ['workflows in the order of names, deep page', sorted({ ...BY_NAME, ...DEEP_NAME })],
  ['inactive workflows in the order of names', sorted({ ...BY_NAME, active: false })],
  ['workflows of a project by last change', sorted({ ...BY_CHANGE, projectId: projectId(CROWDED) })],
  ['a member of 200 projects by last change', sorted({ ...BY_CHANGE, memberId: MEMBER })],
  [
    'a member of 200 projects by last change, deep page',
    sorted({ ...BY_CHANGE, ...DEEP_CHANGE, memberId: MEMBER }),
  ],
  ['a member of 200 projects in the order of names', sorted({ ...BY_NAME, memberId: MEMBER })],
  [
    'a member of 200 projects, active ones in the order of names',
    sorted({ ...BY_NAME, memberId: MEMBER, active: true }),
  ],
  ['two members of 200 projects by last change', sorted({ ...BY_CHANGE, ...BOTH })],
  ['two members of 200 projects in the order of names', sorted({ ...BY_NAME, ...BOTH })],
  ['a search of two members of 200 projects', sorted({ ...BY_CHANGE, ...BOTH, search: 'comm' })],
  ['a member of one project by last change', sorted({ ...BY_CHANGE, memberId: MEMBER_OF_ONE })],
  ['a search for what half of all have', sorted({ ...BY_CHANGE, search: 'comm' })],
  ["a member's search for what half of all have", sorted({ ...BY_CHANGE, memberId: MEMBER, search: 'comm' })],
  ['credentials, first page', credentials('00000000-0000-0000-0000-000000000000')],
  ['credentials, deep page', credentials(DEEP)],
];

/** Of which next to nothing is found in what is looked through for a page: the dearest there are. */
const SEARCHES: readonly (readonly [string, Statement])[] = [
  ['what nothing has', sorted({ ...BY_CHANGE, search: 'nothing' })],
  ['what nothing has, by name', sorted({ ...BY_NAME, search: 'nothing' })],
  ['two words, each of half of all, which nothing has both of', sorted({ ...BY_NAME, search: 'comm name' })],
  [
    'the same from Z to A, inactive ones',
    sorted({ ...BY_NAME, order: 'desc', active: false, search: 'comm name' }),
  ],
  ['a common word that the list does not begin with', sorted({ ...BY_NAME, search: 'name' })],
  ['a word of one in two hundred', sorted({ ...BY_CHANGE, search: '1000' })],
  ["a member's, in what others have", sorted({ ...BY_NAME, memberId: MEMBER, search: 'name comm' })],
  ['that of a member of one project', sorted({ ...BY_CHANGE, memberId: MEMBER_OF_ONE, search: 'comm name' })],
];
/** However many workflows there are: what is looked through lies in indexes, and what is sampled and listed all over the table. */
const AT_MOST_SEARCH_BUFFERS = 2_500;

interface Cost {
  buffers: number;
  rows: number;
}

/** Buffers found in memory or read, of the execution alone. */
async function costOf({ dataSource }: OpenDatabase, { text, values }: Statement): Promise<Cost> {
  const [answer] = await dataSource.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }[]>(
    `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${text}`,
    values,
  );
  const plan = answer?.['QUERY PLAN'][0].Plan ?? {};
  return {
    buffers: (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0),
    rows: plan['Actual Rows'] ?? 0,
  };
}

const COUNTS: readonly (readonly [string, Statement])[] = [
  ['of the instance', counted({})],
  ['of active ones', counted({ active: true })],
  ['of a member of 200 projects', counted({ memberId: MEMBER })],
  ['of two members of 200 projects', counted(BOTH)],
  ['of what half of all have', counted({ search: 'comm' })],
  ['of what half of all of a member have', counted({ memberId: MEMBER, search: 'comm' })],
];
/** As many as a page of the longest list needs. */
const AT_MOST_BUFFERS = 6_000;

/** Filled over a connection of its own: the service's end a statement that takes as long as this may. */
async function filled(database: TestDatabase, rows: number): Promise<OpenDatabase> {
  const open = await database.open();
  const { settings } = database;
  if (settings.kind !== 'postgresql') throw new Error('these tests are about PostgreSQL');
  const client = new pg.Client({ connectionString: settings.url });
  await client.connect();
  for (const statement of FILL(rows)) await client.query(statement);
  await client.query('VACUUM ANALYZE workflow, credential, project, project_member');
  await client.end();
  return open;
}

function uuid(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

function projectId(n: number): string {
  return `00000000-0000-4000-9000-${String(n).padStart(12, '0')}`;
}

// Nested, so that both databases are there at once.
describeOnPostgresql('with a thousand rows', (few) => {
  let small: OpenDatabase;
  beforeAll(async () => {
    small = await filled(few, FEW);
  });

  describeOnPostgresql('and with two hundred thousand', (many) => {
    let large: OpenDatabase;
    beforeAll(async () => {
      large = await filled(many, MANY);
    }, 60_000);

    it.each(PAGES)('%s costs the same', async (_, page) => {
      const [one, other] = [await costOf(small, page), await costOf(large, page)];
      // Pages of different lengths would not be comparable.
      expect(other.rows).toBe(one.rows);
      expect(other.buffers / one.buffers).toBeLessThanOrEqual(AT_MOST_TIMES);
    });

    it.each(SEARCHES)('a search for %s ends when it has looked far enough', async (_, page) => {
      expect((await costOf(large, page)).buffers).toBeLessThan(AT_MOST_SEARCH_BUFFERS);
    });

    it.each(COUNTS)('the count %s stops as soon as it has found enough', async (_, count) => {
      const [row] = await large.dataSource.query<{ count: string }[]>(count.text, count.values);
      expect(Number(row?.count)).toBe(MAX_COUNT + 1);
      expect((await costOf(large, count)).buffers).toBeLessThan(AT_MOST_BUFFERS);
    });
  });
});
