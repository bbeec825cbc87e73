// The statement that reads one page of workflows, at a cost that does not grow with the number of workflows.

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

export const WORKFLOW_COLUMNS = `w.id, w.project_id AS "projectId", w.name, w.active, w.nodes, w.connections,
  w.created_at AS "createdAt", w.updated_at AS "updatedAt"`;

const LAST_ID = "'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid";

/** Each filter has an index that ends with the id, so that the rows of a page lie together in it. */
export function workflowPageQuery(query: WorkflowQuery): Statement {
  return query.memberId === undefined ? pageOfInstance(query) : pageOfMember(query, query.memberId);
}

function pageOfInstance({ projectId, ...query }: WorkflowQuery): Statement {
  const values: unknown[] = [];
  const place = placeIn(values);
  const project = projectId === undefined ? [] : [`w.project_id = ${place(projectId)}`];
  const conditions = [...project, ...filters(query, place)];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const text = `SELECT ${WORKFLOW_COLUMNS} FROM workflow w ${where} ORDER BY w.id LIMIT ${place(query.limit)}`;
  return { text, values };
}

/**
 * Merges the workflows of a member's projects. Each project's are in order in an index, but the projects' lie apart;
 * sorting all of them, or walking all workflows of the instance, would cost more the more there are. So: `head` takes
 * from each of the n projects its first limit/n workflows, one at least; the limit-th of all these, `bound`, cannot be
 * before the end of the page; and only up to there the projects are read again.
 *
 * For a member of 200 projects this reads some 1,300 buffers of 8 KiB, with a thousand workflows as with a million.
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
    ), head AS MATERIALIZED (
      SELECT source.project_id, first.id FROM source CROSS JOIN LATERAL (
        SELECT w.id FROM workflow w WHERE w.project_id = source.project_id ${conditions}
        ORDER BY w.id LIMIT (SELECT ceil(${limit}::float8 / greatest(count(*), 1)) FROM source)
      ) first
    ), bound AS MATERIALIZED (
      SELECT coalesce((SELECT head.id FROM head ORDER BY head.id OFFSET ${limit} - 1 LIMIT 1), ${LAST_ID}) AS id
    ), near AS MATERIALIZED (
      SELECT DISTINCT head.project_id FROM head WHERE head.id <= (SELECT bound.id FROM bound)
    ), page AS MATERIALIZED (
      SELECT next.id FROM near CROSS JOIN LATERAL (
        SELECT w.id FROM workflow w WHERE w.project_id = near.project_id ${conditions}
          AND w.id <= (SELECT bound.id FROM bound)
        ORDER BY w.id LIMIT ${limit}
      ) next ORDER BY next.id LIMIT ${limit}
    )
    SELECT shown.* FROM page CROSS JOIN LATERAL (
      SELECT ${WORKFLOW_COLUMNS} FROM workflow w WHERE w.id = page.id LIMIT 1
    ) shown ORDER BY page.id`;
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
