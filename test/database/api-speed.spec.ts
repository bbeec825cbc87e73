// What a page of a list costs with a hundred thousand rows, in buffers of PostgreSQL.
import pg from 'pg';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { CREDENTIAL_PAGE } from '../../src/workspace/credentials/credential.repository.js';
import type { WorkflowPageQuery, WorkflowScope } from '../../src/workspace/workflows/workflow-list.query.js';
import { MAX_COUNT, workflowCount, workflowPage } from '../../src/workspace/workflows/workflow-list.query.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnPostgresql } from '../support/databases.js';

const ROWS = 100_000;
/** A third of what the table takes, so that no statement reads the whole of it. */
const AT_MOST_BUFFERS = 3_000;
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

const PROJECT_SQL = (n: string) => `('00000000-0000-4000-9000-' || lpad((${n})::text, 12, '0'))::uuid`;
/** A quarter of all workflows is in one project; half of them are active, half have one name, whatever the other half. */
const CROWDED = 2;

const FILL = [
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
     json_build_array(repeat('as in a small workflow ', 20)), '{}',
     timestamptz '2026-01-01' + make_interval(secs => n::bigint * 7919 % 345600)
   FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO credential (id, project_id, name, type, sealed_data)
   SELECT gen_random_uuid(), ${PROJECT_SQL(`1 + n % ${PROJECTS}`)}, 'Name ' || n, 'httpBasicAuth', '\\x00'
   FROM generate_series(1, ${ROWS}) n`,
];

/** A statement with its parameters. */
interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

const workflows = (given: Partial<WorkflowPageQuery>): Statement => {
  const query = { ...BY_CHANGE, ...given, limit: LIMIT };
  const { text, values } = workflowPage(query);
  return { text, values: values(query) };
};
const counted = (query: WorkflowScope): Statement => {
  const { text, values } = workflowCount(query);
  return { text, values: values(query) };
};
const BY_CHANGE = { sort: 'updatedAt' } as const;
const BY_NAME = { sort: 'name' } as const;
/** Three quarters of all rows lie before each. */
const DEEP_CHANGE = { after: { key: '2026-01-02T00:00:00.000000Z', id: DEEP } };
const DEEP_NAME = { after: { key: 'name 3', id: DEEP } };
const credentials = (afterId: string) => ({ text: CREDENTIAL_PAGE, values: [afterId, LIMIT] });

const PAGES: readonly (readonly [string, Statement])[] = [BY_CHANGE, BY_NAME].flatMap((order) => {
  const deep = order === BY_CHANGE ? DEEP_CHANGE : DEEP_NAME;
  const scopes = { all: {}, 'a member of 200 projects': { memberId: MEMBER }, 'two members': BOTH };
  return Object.entries(scopes).flatMap(([who, scope]) => {
    const page = (what: string, given: Partial<WorkflowPageQuery>) =>
      [`${who}, by ${order.sort}, ${what}`, workflows({ ...order, ...scope, ...given })] as const;
    return [
      page('first page', {}),
      page('deep page', deep),
      page('active ones', { active: true }),
      page('inactive ones, deep page', { active: false, ...deep }),
      page('a project', { projectId: projectId(CROWDED) }),
      page('a project, active ones', { projectId: projectId(CROWDED), active: true }),
      page('a name', { name: 'Common' }),
      page('a search for what half of all have', { search: 'omm' }),
      page('a search for what nothing has', { search: 'nothing' }),
    ];
  });
});
const OTHERS: readonly (readonly [string, Statement])[] = [
  ['a member of one project', workflows({ memberId: MEMBER_OF_ONE })],
  ['credentials, first page', credentials('00000000-0000-0000-0000-000000000000')],
  ['credentials, deep page', credentials(DEEP)],
];
/** Buffers found in memory or read, of the execution alone. */
async function buffersOf({ dataSource }: OpenDatabase, { text, values }: Statement): Promise<number> {
  const [answer] = await dataSource.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }[]>(
    `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${text}`,
    values,
  );
  const plan = answer?.['QUERY PLAN'][0].Plan ?? {};
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}

const COUNTS: readonly (readonly [string, Statement])[] = [
  ['of the instance', counted({})],
  ['of active ones', counted({ active: true })],
  ['of a member of 200 projects', counted({ memberId: MEMBER })],
  ['of two members of 200 projects', counted(BOTH)],
  ['of what half of all have', counted({ search: 'omm' })],
  ['of what half of all of a member have', counted({ memberId: MEMBER, search: 'omm' })],
];

/** Filled over a connection of its own: the service's end a statement that takes as long as this may. */
async function filled(database: TestDatabase): Promise<OpenDatabase> {
  const open = await database.open();
  const { settings } = database;
  if (settings.kind !== 'postgresql') throw new Error('these tests are about PostgreSQL');
  const client = new pg.Client({ connectionString: settings.url });
  await client.connect();
  for (const statement of FILL) await client.query(statement);
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

describeOnPostgresql('with a hundred thousand workflows and credentials', (database) => {
  let opened: OpenDatabase;
  beforeAll(async () => {
    opened = await filled(database);
  });

  it('a table is larger than what any page may read', async () => {
    const everything = { text: 'SELECT count(nodes) FROM workflow', values: [] };
    expect(await buffersOf(opened, everything)).toBeGreaterThan(2 * AT_MOST_BUFFERS);
  });

  it.each([...PAGES, ...OTHERS])('%s reads little', async (_, page) => {
    expect(await buffersOf(opened, page)).toBeLessThan(AT_MOST_BUFFERS);
  });

  it.each(COUNTS)('the count %s stops as soon as it has found enough', async (_, count) => {
    const [row] = await opened.dataSource.query<{ count: string }[]>(count.text, count.values);
    expect(Number(row?.count)).toBeGreaterThan(MAX_COUNT);
    expect(await buffersOf(opened, count)).toBeLessThan(AT_MOST_BUFFERS);
  });
});
