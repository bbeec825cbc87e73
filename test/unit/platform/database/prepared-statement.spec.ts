// Every prepared statement by its whole text: a change shows here as SQL. `npx jest THIS_FILE -u` writes the texts anew.
import { join } from 'node:path';
import {
  PreparedStatement,
  preparedStatements,
} from '../../../../src/platform/database/prepared-statement.js';
import { sql } from '../../../../src/platform/database/sql.js';
import type { SortedPageQuery } from '../../../../src/workspace/workflows/sorted-workflow-page.query.js';
import { sortedWorkflowPage } from '../../../../src/workspace/workflows/sorted-workflow-page.query.js';
import { workflowCount } from '../../../../src/workspace/workflows/workflow-count.query.js';
import { workflowPage } from '../../../../src/workspace/workflows/workflow-page.query.js';
import { REPOSITORY, typescriptFiles } from '../../../support/source-files.js';

/** Whoever writes SQL for a prepared statement needs `sql`. */
const WRITERS = typescriptFiles('src').filter(({ text }) => /from '[./a-z-]*\/sql\.js'/.test(text));

/** A page of workflows has a statement for each choice of filters: the shortest and the longest hold every clause. */
const FILTERS = { projectId: 'p', active: true, name: 'n', afterId: 'a', limit: 1 };
/** Lists are of all, of a member's projects, or of those that two have in common. */
const BOTH = { memberId: 'm', otherMemberId: 'o' };
const PAGES = [
  { limit: 1 },
  FILTERS,
  { memberId: 'm', limit: 1 },
  { memberId: 'm', ...FILTERS },
  { ...BOTH, limit: 1 },
  { ...BOTH, ...FILTERS },
];
/** So has one of a sorted list, and the number of workflows in it. */
const SCOPE = { projectId: 'p', active: true, search: 's' };
const AFTER = { after: { key: 'k', id: 'i' }, limit: 1 };
const SORTED_PAGES: SortedPageQuery[] = [
  { sort: 'updatedAt', order: 'desc', limit: 1 },
  { sort: 'updatedAt', order: 'desc', memberId: 'm', limit: 1 },
  { sort: 'name', order: 'asc', ...SCOPE, ...AFTER },
  { sort: 'name', order: 'asc', memberId: 'm', ...SCOPE, ...AFTER },
  { sort: 'updatedAt', order: 'desc', ...BOTH, limit: 1 },
  { sort: 'name', order: 'asc', ...BOTH, ...SCOPE, ...AFTER },
];
const COUNTS = [{}, { memberId: 'm' }, SCOPE, { memberId: 'm', ...SCOPE }, BOTH, { ...BOTH, ...SCOPE }];

const NAMES = [
  'audit_event_append',
  'audit_event_id_at',
  'audit_event_newest_id',
  'audit_events_after',
  'audit_events_at',
  'audit_events_by_id_newest',
  'audit_events_by_id_oldest',
  'audit_events_by_request_newest',
  'audit_events_by_request_oldest',
  'audit_events_by_subject_newest',
  'audit_events_by_subject_oldest',
  'exchange_settle',
  'exchange_settle_whole',
  'login_settle',
  'login_settle_whole',
  'maintenance_due',
  'maintenance_filled',
  'maintenance_log_length',
  'maintenance_write_counts',
  'project_member_roles_in',
  'session_take_turns',
  'throttle_counter_count_hit',
  'throttle_counter_take_back_hit',
  'token_exchange_audit_event_append',
  'used_jti_consume',
  'used_jti_consume_whole',
  'user_account_find',
  'user_account_provision',
  'workflow_count',
  'workflow_count_both',
  'workflow_count_both_projectid_active_search',
  'workflow_count_memberid',
  'workflow_count_memberid_projectid_active_search',
  'workflow_count_projectid_active_search',
  'workflow_page_active_afterid_both_limit_name_projectid',
  'workflow_page_active_afterid_limit_memberid_name_projectid',
  'workflow_page_active_afterid_limit_name_projectid',
  'workflow_page_both_limit',
  'workflow_page_limit',
  'workflow_page_limit_memberid',
  'workflows_by_name_asc_both_project_active_search_after',
  'workflows_by_name_asc_member_project_active_search_after',
  'workflows_by_name_asc_project_active_search_after',
  'workflows_by_updatedat_desc',
  'workflows_by_updatedat_desc_both',
  'workflows_by_updatedat_desc_member',
];

describe('the prepared statements', () => {
  let texts: ReadonlyMap<string, string>;

  beforeAll(async () => {
    for (const { path } of WRITERS) await import(join(REPOSITORY, path));
    PAGES.forEach(workflowPage);
    SORTED_PAGES.forEach(sortedWorkflowPage);
    COUNTS.forEach(workflowCount);
    texts = new Map(preparedStatements().map(({ name, text }) => [name, text]));
  });

  it('are these', () => expect([...texts.keys()]).toEqual(NAMES));

  it.each(NAMES)('%s', (name) => expect(texts.get(name)).toMatchSnapshot());
});

describe('a prepared statement', () => {
  it('has a name of its own', () => {
    const make = () => new PreparedStatement('twice', sql`SELECT 1`);
    make();
    expect(make).toThrow('there is a statement twice already');
  });

  it('has a name that PostgreSQL does not cut', () => {
    const make = (length: number) => new PreparedStatement('n'.repeat(length), sql`SELECT 1`);
    expect(make(63).name).toHaveLength(63);
    expect(() => make(64)).toThrow(RangeError);
  });

  it('has one text for all pages that have the same filters', () => {
    const [one, other] = [workflowPage({ name: 'a', limit: 1 }), workflowPage({ name: 'b', limit: 2 })];
    expect(other).toBe(one);
    expect(one.values({ name: 'a', limit: 1 })).toEqual(['a', 1]);
  });
});
