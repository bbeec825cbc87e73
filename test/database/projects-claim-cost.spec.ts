// What a claim of projects costs with sixty thousand rows of each kind, by the plans of all statements that PostgreSQL runs for it.
import type pg from 'pg';
import { mostRows } from '../../bench/support/query-plans.mjs';
import { InstanceProjects } from '../../src/workspace/projects/instance-projects.js';
import { Database } from '../../src/platform/database/database.js';
import type { Transaction } from '../../src/platform/database/transaction.js';
import { Transactions, managerOf } from '../../src/platform/database/transaction.js';
import type { HostProject, ProjectChange } from '../../src/token-exchange/host/projects.js';
import { describeOnPostgresql } from '../support/databases.js';

const ROWS = 60_000;
/** Ten for each of the hundred memberships and fifty projects that a claim can be about. */
const MOST_ROWS = 1_500;
const MOST_HELD = 101;
const ISSUER = 'https://partner.example';
/** The members of a crowded project, a user with few memberships, one whom people, and one whom claims made a member of all projects. */
const [FEW, BY_PEOPLE, BY_CLAIMS] = ['f', 'p', 'm'] as const;
const ROLE = 'project:admin';

const uuid = (kind: string, n: number | string) => `md5('${kind}' || ${n})::uuid`;
const user = (kind: string) => uuid('user ', `'${kind}'`);
const FILL = [
  `INSERT INTO user_account (id, email, normalized_email, role)
   SELECT ${uuid('user ', 'n')}, n || '@b.example', n || '@b.example', 'global:member'
   FROM (SELECT 'c' || i FROM generate_series(1, ${ROWS}) i UNION SELECT unnest(ARRAY['f', 'p', 'm'])) AS names (n)`,
  `INSERT INTO project (id, type, name) SELECT ${uuid('project ', 'n')}, 'team', 'p' || n FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO project_external_key (issuer, key, project_id)
   SELECT '${ISSUER}', 'key-' || n, ${uuid('project ', 'n')} FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO project_member (project_id, user_id, role)
   SELECT ${uuid('project ', 1)}, ${uuid('user ', `'c' || n`)}, 'project:editor' FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO project_member (project_id, user_id, role)
   SELECT ${uuid('project ', 'n')}, ${user(BY_PEOPLE)}, 'project:viewer' FROM generate_series(2, ${ROWS}) n`,
  `INSERT INTO project_member (project_id, user_id, role, issuer)
   SELECT ${uuid('project ', 'n')}, ${user(BY_CLAIMS)}, '${ROLE}', '${ISSUER}' FROM generate_series(101, ${ROWS}) n`,
  `INSERT INTO token_exchange_identity_link (issuer, subject, user_id)
   SELECT '${ISSUER}', kind || n, md5('user ' || kind)::uuid FROM generate_series(1, ${ROWS} / 3) n, unnest(ARRAY['f', 'p', 'm']) kind`,
];

const EXPLAINED = [
  `LOAD 'auto_explain'`,
  'SET LOCAL auto_explain.log_min_duration = 0',
  'SET LOCAL auto_explain.log_analyze = on',
  'SET LOCAL auto_explain.log_timing = off',
  // Triggers and foreign keys too.
  'SET LOCAL auto_explain.log_nested_statements = on',
  'SET LOCAL auto_explain.log_level = notice',
];

/** The plans of what is done in a transaction, which is rolled back. */
async function plansOf(
  database: Database,
  work: (transaction: Transaction) => Promise<unknown>,
): Promise<string[]> {
  const plans: string[] = [];
  const enough = new Error('enough');
  const explained = new Transactions(database).run(async (transaction) => {
    const { queryRunner } = managerOf(transaction);
    const client = (await queryRunner?.connect()) as pg.PoolClient;
    for (const statement of EXPLAINED) await queryRunner?.query(statement);
    const note = ({ message }: { message?: string }) => plans.push(message ?? '');
    client.on('notice', note);
    await work(transaction);
    // The plan of a statement comes with the next one.
    await queryRunner?.query('SELECT');
    client.off('notice', note);
    throw enough;
  });
  await expect(explained).rejects.toBe(enough);
  return plans;
}

function expectCheap(plans: readonly string[]): void {
  expect(plans.length).toBeGreaterThan(1);
  expect(plans.filter((plan) => plan.includes('Seq Scan'))).toEqual([]);
  expect(plans.filter((plan) => mostRows(plan) > MOST_ROWS)).toEqual([]);
}

describeOnPostgresql(`[D134] with ${ROWS} projects, members and links`, (tested) => {
  const projects = new InstanceProjects();
  let database: Database;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    const { dataSource } = await tested.open();
    database = new Database(dataSource);
    for (const statement of FILL) await dataSource.query(statement);
    for (const kind of [FEW, BY_PEOPLE, BY_CLAIMS]) {
      const [row] = await dataSource.query<{ id: string }[]>(`SELECT ${user(kind)} AS id`);
      ids[kind] = row?.id ?? '';
    }
  }, 120_000);

  const keys = Array.from({ length: 50 }, (_, index) => `key-${index + 1}`);
  const newKeys = Array.from({ length: 50 }, (_, index) => `new-${index + 10}`);
  const given = (key: string | null, id?: string) => ({ id, key, to: ROLE, isClaimed: true });
  const ended = ({ id, key, member }: HostProject): ProjectChange[] =>
    member?.issuer === ISSUER
      ? [{ id, key, from: ROLE, to: member.ownRole ?? undefined, isClaimed: false }]
      : [];

  const find = (transaction: Transaction, kind: string, asked: readonly string[]) => {
    const query = { issuer: ISSUER, userId: ids[kind], keys: asked, mostHeld: MOST_HELD, isLocking: true };
    return projects.find(transaction, query);
  };

  /** As tokens do it: adds the user to fifty projects, and to fifty that are missing, and takes the user out of them again. */
  const sync = async (transaction: Transaction, kind: string) => {
    const change = (changes: readonly ProjectChange[]) =>
      projects.change(transaction, { issuer: ISSUER, userId: ids[kind] ?? '' }, changes);
    const found = await find(transaction, kind, keys);
    await change(found.map(({ id, key }) => given(key, id)));
    await change(newKeys.map((key) => given(key)));
    const held = (await find(transaction, kind, [])).flatMap(ended);
    expect(held).toHaveLength(100);
    await change(held);
  };

  describe.each(['not analysed', 'analysed'])('%s', (state) => {
    beforeAll(async () => {
      if (state === 'analysed') await database.dataSource.query('ANALYZE');
    });

    it.each([
      ['few memberships', FEW],
      ['60,000 memberships by people', BY_PEOPLE],
    ])('a claim for a user with %s reads by indexes alone', async (_, kind) => {
      expectCheap(await plansOf(database, (transaction) => sync(transaction, kind)));
    });

    it('of 60,000 memberships by claims no more are read than show that these are too many', async () => {
      const read = async (transaction: Transaction) =>
        expect(await find(transaction, BY_CLAIMS, [])).toHaveLength(MOST_HELD);
      expectCheap(await plansOf(database, read));
    });
  });
});
