// The statement that reads one page of workflows, at a cost that does not grow with the number of workflows.
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import type { Sql } from '../../platform/database/sql.js';
import { joined, parameter, sql } from '../../platform/database/sql.js';
import type { ProjectScope } from './member-projects.sql.js';
import { PROJECT_ID, memberNames, memberProjects } from './member-projects.sql.js';

/** Which workflows to read: those after `afterId` in the order of ids, of which each given member is true. */
export interface WorkflowQuery extends ProjectScope {
  readonly active?: boolean;
  readonly name?: string;
  /** Only those after this id, in the order of ids. */
  readonly afterId?: string;
  readonly limit: number;
}

/** A workflow as lists show it. */
export interface ListedWorkflow {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly active: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type PageSql = Sql<WorkflowQuery>;
type PageStatement = PreparedStatement<WorkflowQuery, ListedWorkflow>;

const ACTIVE: PageSql = parameter('boolean', ({ active }) => active);
const NAME: PageSql = parameter('text', ({ name }) => name);
const AFTER_ID: PageSql = parameter('uuid', ({ afterId }) => afterId);
const LIMIT: PageSql = parameter('bigint', ({ limit }) => limit);

/** @rule B.list What a list tells of a workflow: nothing of which the size is its author's choice. */
export const LISTED_COLUMNS = sql`w.id, w.project_id AS "projectId", w.name, w.active,
  w.created_at AS "createdAt", w.updated_at AS "updatedAt"`;

/** So many more than its share are taken from each project: they lie together in the index and cost next to nothing. */
const SPARE = sql`3`;
const LAST_ID = sql`'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`;

/**
 * Ids first, which indexes alone tell, and then only the rows that are answered, each by its key: wide rows that do not
 * match are never touched, and the plan is the same however small or large the table is.
 */
const ROWS_OF_PAGE = sql`SELECT shown.* FROM page CROSS JOIN LATERAL (
      SELECT ${LISTED_COLUMNS} FROM workflow w WHERE w.id = page.id LIMIT 1
    ) shown ORDER BY page.id`;

const statements = new Map<string, PageStatement>();

/**
 * Each filter has an index that ends with the id, so that the rows of a page lie together in it. The text depends only on
 * which filters are given, and so does the statement's name: to parse and plan it anew takes longer than to run it.
 */
export function workflowPage(query: WorkflowQuery): PageStatement {
  const name = `workflow_page_${filterNames(query)}`;
  const statement = statements.get(name) ?? new PreparedStatement(name, textOf(query));
  statements.set(name, statement);
  return statement;
}

function filterNames({ memberId, otherMemberId, ...rest }: WorkflowQuery): string {
  const given = Object.entries(rest).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  return [...given, ...memberNames({ memberId, otherMemberId })].sort().join('_').toLowerCase();
}

function textOf(query: WorkflowQuery): PageSql {
  return query.memberId === undefined ? pageOfInstance(query) : pageOfMember(query);
}

function pageOfInstance({ projectId, ...query }: WorkflowQuery): PageSql {
  const project = projectId === undefined ? [] : [sql`w.project_id = ${PROJECT_ID}`];
  const conditions = [...project, ...filters(query)];
  const where = conditions.length === 0 ? sql`` : sql`WHERE ${joined(conditions, sql` AND `)}`;
  return sql`WITH page AS MATERIALIZED (
      SELECT w.id FROM workflow w ${where} ORDER BY w.id LIMIT ${LIMIT}
    )
    ${ROWS_OF_PAGE}`;
}

/**
 * Merges the workflows of a member's projects. Each project's are in order in an index, but the projects' lie apart;
 * sorting all of them, or walking all workflows of the instance, would cost more the more there are. So: `head` takes
 * from each of the n projects its first limit/n workflows and three more; the limit-th of all these, `bound`, cannot lie
 * before the end of the page; and only projects of which everything taken lies before `bound`, mostly none, are read
 * further, up to it.
 *
 * For a member of 200 projects this reads some 1,000 buffers of 8 KiB, with two hundred thousand workflows as with many
 * more (test/database/api-speed.spec.ts).
 */
function pageOfMember(query: WorkflowQuery): PageSql {
  const conditions = joined(
    filters(query).map((condition) => sql`AND ${condition}`),
    sql` `,
  );
  return sql`WITH source AS MATERIALIZED (
      ${memberProjects(query)}
    ), share AS MATERIALIZED (
      SELECT ceil(${LIMIT}::float8 / greatest(count(*), 1))::bigint + ${SPARE} AS size FROM source
    ), head AS MATERIALIZED (
      SELECT source.project_id, first.id, first.rank FROM source CROSS JOIN LATERAL (
        SELECT w.id, row_number() OVER (ORDER BY w.id) AS rank FROM workflow w
        WHERE w.project_id = source.project_id ${conditions}
        ORDER BY w.id LIMIT (SELECT share.size FROM share)
      ) first
    ), bound AS MATERIALIZED (
      SELECT coalesce((SELECT head.id FROM head ORDER BY head.id OFFSET ${LIMIT} - 1 LIMIT 1), ${LAST_ID}) AS id
    ), more AS MATERIALIZED (
      SELECT next.id FROM head CROSS JOIN LATERAL (
        SELECT w.id FROM workflow w WHERE w.project_id = head.project_id ${conditions}
          AND w.id > head.id AND w.id <= (SELECT bound.id FROM bound)
        ORDER BY w.id LIMIT ${LIMIT}
      ) next
      WHERE head.rank = (SELECT share.size FROM share) AND head.id < (SELECT bound.id FROM bound)
    ), page AS MATERIALIZED (
      SELECT id FROM (SELECT head.id FROM head UNION ALL SELECT more.id FROM more) found
      ORDER BY id LIMIT ${LIMIT}
    )
    ${ROWS_OF_PAGE}`;
}

function filters({ active, name, afterId }: Omit<WorkflowQuery, 'projectId'>): PageSql[] {
  return [
    ...(active === undefined ? [] : [sql`w.active = ${ACTIVE}`]),
    ...(name === undefined ? [] : [sql`w.name = ${NAME}`]),
    ...(afterId === undefined ? [] : [sql`w.id > ${AFTER_ID}`]),
  ];
}
