// The statement that reads one page of workflows, at a cost that does not grow with the number of workflows.
import type { PreparedStatement } from '../../database/prepared-statement.js';

/** Which workflows to read: those after `afterId` in the order of ids, of which each given member is true. */
export interface WorkflowQuery {
  /** Only those of projects in which this user is a member; undefined: all of the instance. */
  readonly memberId?: string;
  readonly projectId?: string;
  readonly active?: boolean;
  readonly name?: string;
  /** Only those after this id, in the order of ids. */
  readonly afterId?: string;
  readonly limit: number;
}

/** A statement with its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** @rule B.list What a list tells of a workflow: nothing of which the size is its author's choice. */
const LISTED_COLUMNS = `w.id, w.project_id AS "projectId", w.name, w.active,
  w.created_at AS "createdAt", w.updated_at AS "updatedAt"`;

/** So many more than its share are taken from each project: they lie together in the index and cost next to nothing. */
const SPARE = 3;
const LAST_ID = "'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid";

/**
 * Ids first, which indexes alone tell, and then only the rows that are answered, each by its key: wide rows that do not
 * match are never touched, and the plan is the same however small or large the table is.
 */
const ROWS_OF_PAGE = `SELECT shown.* FROM page CROSS JOIN LATERAL (
      SELECT ${LISTED_COLUMNS} FROM workflow w WHERE w.id = page.id LIMIT 1
    ) shown ORDER BY page.id`;

/**
 * Each filter has an index that ends with the id, so that the rows of a page lie together in it. The text depends only on
 * which filters are given, and so does the statement's name: to parse and plan it anew takes longer than to run it.
 */
export function workflowPageQuery(query: WorkflowQuery): Statement & PreparedStatement {
  const { text, values } =
    query.memberId === undefined ? pageOfInstance(query) : pageOfMember(query, query.memberId);
  return { name: `workflow_page_${filterNames(query)}`, text, values };
}

function filterNames(query: WorkflowQuery): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  return given.sort().join('_').toLowerCase();
}

function pageOfInstance({ projectId, ...query }: WorkflowQuery): Statement {
  const values: unknown[] = [];
  const place = placeIn(values);
  const project = projectId === undefined ? [] : [`w.project_id = ${place(projectId)}`];
  const conditions = [...project, ...filters(query, place)];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const text = `WITH page AS MATERIALIZED (
      SELECT w.id FROM workflow w ${where} ORDER BY w.id LIMIT ${place(query.limit)}
    )
    ${ROWS_OF_PAGE}`;
  return { text, values };
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
function pageOfMember({ projectId, ...query }: WorkflowQuery, memberId: string): Statement {
  const values: unknown[] = [];
  const place = placeIn(values);
  const member = `member.user_id = ${place(memberId)}`;
  const project = projectId === undefined ? '' : `AND member.project_id = ${place(projectId)}`;
  const conditions = ['', ...filters(query, place)].join(' AND ');
  const limit = place(query.limit);
  const text = `WITH source AS MATERIALIZED (
      SELECT member.project_id FROM project_member member WHERE ${member} ${project}
    ), share AS MATERIALIZED (
      SELECT ceil(${limit}::float8 / greatest(count(*), 1))::bigint + ${SPARE} AS size FROM source
    ), head AS MATERIALIZED (
      SELECT source.project_id, first.id, first.rank FROM source CROSS JOIN LATERAL (
        SELECT w.id, row_number() OVER (ORDER BY w.id) AS rank FROM workflow w
        WHERE w.project_id = source.project_id ${conditions}
        ORDER BY w.id LIMIT (SELECT share.size FROM share)
      ) first
    ), bound AS MATERIALIZED (
      SELECT coalesce((SELECT head.id FROM head ORDER BY head.id OFFSET ${limit} - 1 LIMIT 1), ${LAST_ID}) AS id
    ), more AS MATERIALIZED (
      SELECT next.id FROM head CROSS JOIN LATERAL (
        SELECT w.id FROM workflow w WHERE w.project_id = head.project_id ${conditions}
          AND w.id > head.id AND w.id <= (SELECT bound.id FROM bound)
        ORDER BY w.id LIMIT ${limit}
      ) next
      WHERE head.rank = (SELECT share.size FROM share) AND head.id < (SELECT bound.id FROM bound)
    ), page AS MATERIALIZED (
      SELECT id FROM (SELECT head.id FROM head UNION ALL SELECT more.id FROM more) found
      ORDER BY id LIMIT ${limit}
    )
    ${ROWS_OF_PAGE}`;
  return { text, values };
}

type Place = (value: unknown) => string;

/** Adds a value to the parameters of a statement and answers where it stands. */
function placeIn(values: unknown[]): Place {
  return (value) => `$${values.push(value)}`;
}

function filters({ active, name, afterId }: Omit<WorkflowQuery, 'projectId'>, place: Place): string[] {
  return [
    ...(active === undefined ? [] : [`w.active = ${place(active)}`]),
    ...(name === undefined ? [] : [`w.name = ${place(name)}`]),
    ...(afterId === undefined ? [] : [`w.id > ${place(afterId)}`]),
  ];
}
