// SQL for the first workflows of a sorted list, of all or of a member's projects, at a cost that does not grow with the table.
import type { Sql } from '../../database/sql.js';
import { joined, parameter, sql } from '../../database/sql.js';
import type { OrderSql } from './workflow-order.js';

/** Which workflows a list is of: those of which each given member is true. */
export interface WorkflowScope {
  /** Only those of projects in which this user is a member; undefined: all of the instance. */
  readonly memberId?: string;
  readonly projectId?: string;
  readonly active?: boolean;
}

/** A place in a sorted list: that of one workflow. */
export interface ListPlace {
  /** What the list is sorted by, as text. */
  readonly key: string;
  readonly id: string;
}

/** What the statements about sorted lists are given. */
export interface SortedQuery extends WorkflowScope {
  /** Only those behind this place. */
  readonly after?: ListPlace;
}

type ScopeSql = Sql<SortedQuery>;

export const MEMBER_ID: ScopeSql = parameter('uuid', ({ memberId }) => memberId);
export const PROJECT_ID: ScopeSql = parameter('uuid', ({ projectId }) => projectId);
export const ACTIVE: ScopeSql = parameter('boolean', ({ active }) => active);
const AFTER_KEY: ScopeSql = parameter('text', ({ after }) => after?.key);
const AFTER_ID: ScopeSql = parameter('uuid', ({ after }) => after?.id);

/** So many more than its share are taken from each project: they lie together in the index and cost next to nothing. */
const SPARE = sql`3`;

/**
 * Common table expressions of which the last, `found`, has the first rows of a list in no order: key, id and folded name.
 * They read nothing but indexes, each of which has the rows of one state, of one project or of both in the order of the list.
 */
export function foundInOrder<Query extends SortedQuery>(
  scope: SortedQuery,
  order: OrderSql,
  limit: Sql<Query>,
): Sql<Query> {
  if (scope.memberId !== undefined) return foundInProjects(scope, order, limit);
  return sql`found AS MATERIALIZED (${joined(
    groupsOf(scope).map((group) => sql`(${rowsOfGroup<Query>(group, scope, order, limit)})`),
    sql` UNION ALL `,
  )})`;
}

/** Of the instance by state: both states have their own range of the index. */
function groupsOf({ projectId, active }: SortedQuery): ScopeSql[] {
  const state = active === undefined ? [] : [sql`w.active = ${ACTIVE}`];
  if (projectId !== undefined) return [joined([sql`w.project_id = ${PROJECT_ID}`, ...state], sql` AND `)];
  return active === undefined ? [sql`w.active`, sql`NOT w.active`] : state;
}

function rowsOfGroup<Query extends SortedQuery>(
  group: Sql<Query>,
  { after }: SortedQuery,
  order: OrderSql,
  limit: Sql<Query>,
): Sql<Query> {
  const { column, direction } = order;
  return sql`SELECT ${column} AS key, w.id, w.folded_name FROM workflow w
      WHERE ${group} ${after === undefined ? sql`` : isBehind(order)}
      ORDER BY ${column} ${direction}, w.id ${direction} LIMIT ${limit}`;
}

export function isBehind({ column, type, isAfter }: OrderSql): ScopeSql {
  return sql`AND (${column}, w.id) ${isAfter} (${AFTER_KEY}::${type}, ${AFTER_ID})`;
}

/**
 * Merges the workflows of a member's projects, as `pageOfMember` in workflow-page.query.ts does in the order of ids, and for
 * its reasons.
 */
function foundInProjects<Query extends SortedQuery>(
  { projectId, active, after }: SortedQuery,
  order: OrderSql,
  limit: Sql<Query>,
): Sql<Query> {
  const { column, direction, isAfter, isBefore, isUpTo, last } = order;
  const state = active === undefined ? sql`` : sql`AND w.active = ${ACTIVE}`;
  const behind = after === undefined ? sql`` : isBehind(order);
  return sql`source AS MATERIALIZED (
      ${memberProjects(projectId)}
    ), share AS MATERIALIZED (
      SELECT ceil(${limit}::float8 / greatest(count(*), 1))::bigint + ${SPARE} AS size FROM source
    ), head AS MATERIALIZED (
      SELECT source.project_id, first.* FROM source CROSS JOIN LATERAL (
        SELECT ${column} AS key, w.id, w.folded_name,
          row_number() OVER (ORDER BY ${column} ${direction}, w.id ${direction}) AS rank
        FROM workflow w WHERE w.project_id = source.project_id ${state} ${behind}
        ORDER BY ${column} ${direction}, w.id ${direction} LIMIT (SELECT share.size FROM share)
      ) first
    ), bound AS MATERIALIZED (
      (SELECT head.key, head.id FROM head ORDER BY head.key ${direction}, head.id ${direction} OFFSET ${limit} - 1 LIMIT 1)
      UNION ALL SELECT ${last} ORDER BY key ${direction}, id ${direction} LIMIT 1
    ), more AS MATERIALIZED (
      SELECT next.* FROM head CROSS JOIN LATERAL (
        SELECT ${column} AS key, w.id, w.folded_name FROM workflow w
        WHERE w.project_id = head.project_id ${state}
          AND (${column}, w.id) ${isAfter} (head.key, head.id)
          AND (${column}, w.id) ${isUpTo} (SELECT bound.key, bound.id FROM bound)
        ORDER BY ${column} ${direction}, w.id ${direction} LIMIT ${limit}
      ) next
      WHERE head.rank = (SELECT share.size FROM share)
        AND (head.key, head.id) ${isBefore} (SELECT bound.key, bound.id FROM bound)
    ), found AS MATERIALIZED (
      SELECT head.key, head.id, head.folded_name FROM head UNION ALL SELECT more.* FROM more
    )`;
}

/** The projects of a member, or the one that is named where it is among them. */
export function memberProjects(projectId: string | undefined): ScopeSql {
  const project = projectId === undefined ? sql`` : sql`AND member.project_id = ${PROJECT_ID}`;
  return sql`SELECT member.project_id FROM project_member member WHERE member.user_id = ${MEMBER_ID} ${project}`;
}
