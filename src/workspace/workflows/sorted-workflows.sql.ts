// SQL for the first workflows of a sorted list, of all or of a member's projects, at a cost that does not grow with the table.
import type { Sql } from '../../platform/database/sql.js';
import { joined, parameter, sql } from '../../platform/database/sql.js';
import type { ProjectScope } from './member-projects.sql.js';
import { PROJECT_ID, memberProjects } from './member-projects.sql.js';
import type { OrderSql } from './workflow-order.js';

/** Which workflows a list is of: those of which each given member is true. */
export interface WorkflowScope extends ProjectScope {
  readonly active?: boolean;
}

/** A place in a sorted list: that of one workflow. */
export interface ListPlace {
  /** What the list is sorted by, as text. */
  readonly key: string;
  readonly id: string;
}

/** Which part of a sorted list statements are about. */
export interface SortedQuery extends WorkflowScope {
  /** Only those behind this place. */
  readonly after?: ListPlace;
}

type ScopeSql = Sql<SortedQuery>;

const ACTIVE: ScopeSql = parameter('boolean', ({ active }) => active);
const AFTER_KEY: ScopeSql = parameter('text', ({ after }) => after?.key);
const AFTER_ID: ScopeSql = parameter('uuid', ({ after }) => after?.id);

/** So many more than its share are taken from each project: they lie together in the index and cost next to nothing. */
const SPARE = sql`3`;

/** Of so many projects their lists are merged without looking at the list of all. */
const MANY_PROJECTS = sql`100`;

/** What is read of a list. */
export interface Reading<Query> {
  readonly order: OrderSql;
  readonly limit: Sql<Query>;
  /** Nothing is read unless this is true. */
  readonly onlyIf: Sql<Query>;
}

/**
 * A SELECT of the first rows of a list in their order: key, id, project and folded name. It reads nothing but indexes, each of
 * which has the rows of one state, of one project or of both in the order of the list.
 */
export function firstInOrder<Query extends SortedQuery>(
  scope: SortedQuery,
  reading: Reading<Query>,
): Sql<Query> {
  if (scope.memberId !== undefined) return firstOfMember(scope, reading);
  const groups = groupsOf(scope).map((group) => sql`(${firstOfGroup(group, scope, reading)})`);
  return sql`SELECT * FROM (${joined(groups, sql` UNION ALL `)}) each ${ordered(reading)}`;
}

/** Of several groups each comes in order, so that they are merged and read no further than anybody asks. */
function firstOfGroup<Query extends SortedQuery>(
  group: ScopeSql,
  { after }: SortedQuery,
  { order, limit, onlyIf }: Reading<Query>,
): Sql<Query> {
  const { column, direction } = order;
  const behind = after === undefined ? sql`` : sql<SortedQuery>`AND ${isBehind(order)}`;
  return sql`SELECT ${column} AS key, w.id, w.project_id, w.folded_name FROM workflow w
      WHERE ${onlyIf} AND ${group} ${behind}
      ORDER BY ${column} ${direction}, w.id ${direction} LIMIT ${limit}`;
}

/** Of the instance by state: both states have their own range of the index. */
function groupsOf({ projectId, active }: WorkflowScope): ScopeSql[] {
  const state = active === undefined ? [] : [sql`w.active = ${ACTIVE}`];
  if (projectId !== undefined) return [joined([sql`w.project_id = ${PROJECT_ID}`, ...state], sql` AND `)];
  return active === undefined ? [sql`w.active`, sql`NOT w.active`] : state;
}

function ordered<Query>({ order: { direction }, limit }: Reading<Query>): Sql<Query> {
  return sql`ORDER BY key ${direction}, id ${direction} LIMIT ${limit}`;
}

/**
 * Who is a member of many projects sees much of the instance, as a rule: then the first of these are found soonest in the list
 * of all. For everybody else, and where that does not come to an end soon, the lists of the projects are merged.
 */
function firstOfMember<Query extends SortedQuery>(scope: SortedQuery, reading: Reading<Query>): Sql<Query> {
  const { limit, onlyIf } = reading;
  if (scope.projectId !== undefined) return mergedProjects(scope, reading);
  const isMany = isMemberOfMany(scope);
  const isOpen = sql`(SELECT count(*) < ${limit} FROM walked)`;
  const { memberId: _, otherMemberId: __, ...everybody } = scope;
  const all = {
    ...reading,
    limit: sql<Query>`4 * ${limit} + 500`,
    onlyIf: sql<Query>`${onlyIf} AND ${isMany}`,
  };
  // IS TRUE keeps the planner from a join, which would read all before it answers the first.
  return sql`WITH walked AS MATERIALIZED (
      SELECT each.* FROM (${firstInOrder(everybody, all)}) each
      WHERE (each.project_id IN (${memberProjects(scope)})) IS TRUE LIMIT ${limit}
    ), merged AS MATERIALIZED (
      ${mergedProjects(scope, { ...reading, onlyIf: sql`${onlyIf} AND ${isOpen}` })}
    )
    SELECT * FROM (SELECT * FROM walked WHERE NOT ${isOpen} UNION ALL SELECT * FROM merged) each ${ordered(reading)}`;
}

/**
 * Merges the workflows of a member's projects. Each project's are in order in an index, but the projects' lie apart; sorting
 * all of them would cost more the more there are. So: `nearest` takes the first of each project, and keeps as many projects as
 * rows are wanted, since no other can have one of these; `head` takes from each of them its share and three more; the limit-th
 * of all these, `bound`, cannot lie before the end of the list; and only projects of which everything taken lies before
 * `bound`, mostly none, are read further, up to it.
 */
function mergedProjects<Query extends SortedQuery>(scope: SortedQuery, reading: Reading<Query>): Sql<Query> {
  const { order, limit, onlyIf } = reading;
  const { column, direction, isAfter, isBefore, isUpTo, last } = order;
  const inOrder = sql`ORDER BY ${column} ${direction}, w.id ${direction}`;
  const { row, state, behind } = listedInProject(scope, order);
  return sql`WITH nearest AS MATERIALIZED (
      SELECT first.project_id FROM (${memberProjects(scope)} AND ${onlyIf}) source CROSS JOIN LATERAL (
        SELECT ${row} FROM workflow w WHERE w.project_id = source.project_id ${state} ${behind} ${inOrder} LIMIT 1
      ) first ORDER BY first.key ${direction}, first.id ${direction} LIMIT ${limit}
    ), share AS MATERIALIZED (
      SELECT ceil(${limit}::float8 / greatest(count(*), 1))::bigint + ${SPARE} AS size FROM nearest
    ), head AS MATERIALIZED (
      SELECT own.* FROM nearest CROSS JOIN LATERAL (
        SELECT ${row}, row_number() OVER (${inOrder}) AS rank
        FROM workflow w WHERE w.project_id = nearest.project_id ${state} ${behind}
        ${inOrder} LIMIT (SELECT share.size FROM share)
      ) own
    ), bound AS MATERIALIZED (
      (SELECT head.key, head.id FROM head ORDER BY head.key ${direction}, head.id ${direction} OFFSET ${limit} - 1 LIMIT 1)
      UNION ALL SELECT ${last} ORDER BY key ${direction}, id ${direction} LIMIT 1
    ), more AS MATERIALIZED (
      SELECT next.* FROM head CROSS JOIN LATERAL (
        SELECT ${row} FROM workflow w WHERE w.project_id = head.project_id ${state}
          AND (${column}, w.id) ${isAfter} (head.key, head.id)
          AND (${column}, w.id) ${isUpTo} (SELECT bound.key, bound.id FROM bound)
        ${inOrder} LIMIT ${limit}
      ) next
      WHERE head.rank = (SELECT share.size FROM share)
        AND (head.key, head.id) ${isBefore} (SELECT bound.key, bound.id FROM bound)
    )
    SELECT * FROM (
      SELECT head.key, head.id, head.project_id, head.folded_name FROM head UNION ALL SELECT more.* FROM more
    ) each ${ordered(reading)}`;
}

/** Of the workflows `w` of one project: what is read of a row, and which belong to the list, as conditions that follow others. */
export function listedInProject({ active, after }: SortedQuery, order: OrderSql) {
  return {
    row: sql`${order.column} AS key, w.id, w.project_id, w.folded_name`,
    state: active === undefined ? sql`` : sql<SortedQuery>`AND w.active = ${ACTIVE}`,
    behind: after === undefined ? sql`` : sql<SortedQuery>`AND ${isBehind(order)}`,
  };
}

/** Whether somebody is a member of many projects. */
export function isMemberOfMany(scope: WorkflowScope): ScopeSql {
  return sql`(SELECT count(*) = ${MANY_PROJECTS} FROM (${memberProjects(scope)} LIMIT ${MANY_PROJECTS}) few)`;
}

function isBehind({ column, type, isAfter }: OrderSql): ScopeSql {
  return sql`(${column}, w.id) ${isAfter} (${AFTER_KEY}::${type}, ${AFTER_ID})`;
}

/** A SELECT of folded names of a list in no order, which stops as soon as nobody wants more of them. */
export function anyOf(scope: WorkflowScope): ScopeSql {
  const { memberId, otherMemberId: _, ...rest } = scope;
  if (memberId === undefined) return sql`SELECT w.folded_name FROM workflow w WHERE ${conditionsOf(rest)}`;
  return sql`SELECT own.folded_name FROM (${memberProjects(scope)}) source CROSS JOIN LATERAL (
      SELECT w.folded_name FROM workflow w WHERE w.project_id = source.project_id AND ${conditionsOf(rest)}
    ) own`;
}

/** What is true of each workflow `w` of a part of a list. */
export function conditionsOf(query: SortedQuery, order?: OrderSql): ScopeSql {
  const { memberId, projectId, active, after } = query;
  const conditions = [
    ...(projectId === undefined ? [] : [sql`w.project_id = ${PROJECT_ID}`]),
    ...(active === undefined ? [] : [sql`w.active = ${ACTIVE}`]),
    ...(memberId === undefined ? [] : [sql`w.project_id IN (${memberProjects(query)})`]),
    ...(after === undefined || order === undefined ? [] : [isBehind(order)]),
  ];
  return conditions.length === 0 ? sql`true` : joined(conditions, sql` AND `);
}
