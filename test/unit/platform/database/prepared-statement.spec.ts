// Every prepared statement by its whole text: a change shows here as SQL. `npx jest THIS_FILE -u` writes the texts anew.
import { join } from 'node:path';
import {
  PreparedStatement,
  nameOn,
  preparedStatements,
} from '../../../../src/platform/database/prepared-statement.js';
import { sql } from '../../../../src/platform/database/sql.js';
import type { WorkflowPageQuery } from '../../../../src/workspace/workflows/workflow-list.query.js';
import {
  SORT_KEYS,
  workflowCount,
  workflowPage,
} from '../../../../src/workspace/workflows/workflow-list.query.js';
import { AUDIT_EVENTS } from '../../../../src/audit/audit-trail.repository.js';
import { USER_TABLE } from '../../../../src/instance/token-exchange-settings.js';
import { recordStatement } from '../../../../src/token-exchange/flows/login.repository.js';
import { useStatement } from '../../../../src/token-exchange/flows/use.repository.js';
import { REPOSITORY, typescriptFiles } from '../../../support/source-files.js';

/** Whoever writes SQL for a prepared statement needs `sql`. */
const WRITERS = typescriptFiles('src').filter(({ text }) => /from '[./a-z-]*\/sql\.js'/.test(text));

/** Lists are of all, of a member's projects, or of those that two have in common. */
const BOTH = { memberId: 'm', otherMemberId: 'o' };
const BY_CHANGE = { sort: 'updatedAt', limit: 1 } as const;
/** A page has a statement for each choice of filters: the shortest and the longest hold every clause. */
const SCOPE = { projectId: 'p', active: true, name: 'n', search: 's' };
const BY_NAME = { ...SCOPE, sort: 'name', limit: 1, after: { key: 'k', id: 'i' } } as const;
const PAGES: WorkflowPageQuery[] = [BY_CHANGE, BY_NAME].flatMap((page) => [
  page,
  { ...page, memberId: 'm' },
  { ...page, ...BOTH },
]);
const COUNTS = [{}, { memberId: 'm' }, SCOPE, { memberId: 'm', ...SCOPE }, BOTH, { ...BOTH, ...SCOPE }];

const NAMES = [
  'audit_event_append',
  'audit_event_append_refusal',
  'identity_link_find',
  'identity_link_insert',
  'jti_use',
  nameOn(USER_TABLE, 'login_record'),
  'maintenance_due',
  'maintenance_filled',
  'maintenance_log_length',
  'maintenance_write_counts',
  'project_member_roles_in',
  'throttle_counter_count_hit',
  'throttle_counter_refund_hit',
  'token_exchange_audit_event_append',
  'token_exchange_audit_event_append_refusal',
  nameOn(USER_TABLE, 'token_use'),
  'user_account_create',
  'user_account_find',
  'user_account_find_by_email',
  'workflow_count',
  'workflow_count_both',
  'workflow_count_both_project_active_name_search',
  'workflow_count_member',
  'workflow_count_member_project_active_name_search',
  'workflow_count_project_active_name_search',
  'workflows_by_name_both_project_active_name_search_after',
  'workflows_by_name_member_project_active_name_search_after',
  'workflows_by_name_project_active_name_search_after',
  'workflows_by_updatedat',
  'workflows_by_updatedat_both',
  'workflows_by_updatedat_member',
];

describe('the prepared statements', () => {
  let texts: ReadonlyMap<string, string>;

  beforeAll(async () => {
    for (const { path } of WRITERS) await import(join(REPOSITORY, path));
    useStatement(USER_TABLE);
    recordStatement(USER_TABLE, AUDIT_EVENTS);
    PAGES.forEach(workflowPage);
    COUNTS.forEach(workflowCount);
    texts = new Map(preparedStatements().map(({ name, text }) => [name, text]));
  });

  it('are these', () => expect([...texts.keys()]).toEqual(NAMES));

  it.each(NAMES)('%s', (name) => expect(texts.get(name)).toMatchSnapshot());
});

describe('a prepared statement', () => {
  it('has a name of its own', () => {
    const make = (text = sql`SELECT 1`) => new PreparedStatement('twice', text);
    expect(make().text).toBe(make().text);
    expect(() => make(sql`SELECT 2`)).toThrow('there is another statement twice already');
  });

  it('has one for each table of users that hosts and registrations of one process name', () => {
    const other = { ...USER_TABLE, name: 'product_user' };
    expect(useStatement(other).name).not.toBe(useStatement(USER_TABLE).name);
    const record = (table: typeof other) => recordStatement(table, AUDIT_EVENTS);
    expect(record(other).name).not.toBe(record(USER_TABLE).name);
  });

  it('has a name that PostgreSQL does not cut', () => {
    const make = (length: number) => new PreparedStatement('n'.repeat(length), sql`SELECT 1`);
    expect(make(63).name).toHaveLength(63);
    expect(() => make(64)).toThrow(RangeError);
  });

  it('has one text for all pages that have the same filters', () => {
    const [one, other] = [
      workflowPage({ ...BY_CHANGE, name: 'a' }),
      workflowPage({ ...BY_CHANGE, name: 'b' }),
    ];
    expect(other).toBe(one);
    expect(one.values({ ...BY_CHANGE, name: 'a' })).toEqual(['a', 1]);
  });

  it('has a name of its own, which PostgreSQL does not cut, for every choice of filters', () => {
    const filters = { ...SCOPE, after: BY_NAME.after };
    const choices = Object.entries(filters).reduce<object[]>(
      (all, [member, value]) => [...all, ...all.map((choice) => ({ ...choice, [member]: value }))],
      [{}, { memberId: 'm' }, BOTH],
    );
    const names = choices.flatMap((choice) =>
      SORT_KEYS.map((sort) => workflowPage({ sort, limit: 1, ...choice }).name),
    );
    expect(new Set(names).size).toBe(3 * 2 * 32);
  });
});
