// SQL for the part of a list that a search looks through for one page: so many workflows and no more, wherever they lie.
import type { Sql } from '../../platform/database/sql.js';
import { sql } from '../../platform/database/sql.js';
import { memberProjects } from './member-projects.sql.js';
import type { SortedQuery } from './sorted-workflows.sql.js';
import { firstInOrder, isMemberOfMany, listedInProject } from './sorted-workflows.sql.js';
import type { OrderSql } from './workflow-order.js';

/** Of the instance, or of one of its projects: they lie together in an index. */
const DEPTH = sql`2000`;
/** The same where each has to be held against the projects of a member; so many of theirs among these are worth while. */
const MEMBERS_DEPTH = sql`1500`;
const ENOUGH = sql`300`;
/** Of a member's projects, which lie apart: so many are read, and half as many looked through at least. */
const READ = sql`1600`;

/**
 * A SELECT of the first workflows of a list: key, id and folded name, and with the last of them `is_end` where the list may go
 * on behind it.
 */
export function lookedThrough(query: SortedQuery, order: OrderSql): Sql<SortedQuery> {
  if (query.memberId !== undefined) return lookedThroughByMember(query, order);
  const first = firstInOrder(query, { order, limit: DEPTH, onlyIf: sql`true` });
  return sql`SELECT each.key, each.id, each.folded_name,
      row_number() OVER (ORDER BY ${placeOf(sql`each`, order)}) = ${DEPTH} AS is_end
    FROM (${first}) each`;
}

/** As a plain page of a member is read: in the list of all where much of that is theirs, or else project by project. */
function lookedThroughByMember(query: SortedQuery, order: OrderSql): Sql<SortedQuery> {
  const { memberId: _, otherMemberId: __, ...everybody } = query;
  const isMany = query.projectId === undefined ? isMemberOfMany(query) : sql`false`;
  const first = firstInOrder<SortedQuery>(everybody, { order, limit: MEMBERS_DEPTH, onlyIf: isMany });
  const isSeen = sql`(SELECT count(*) FILTER (WHERE seen.is_own) >= ${ENOUGH}
      OR ${isMany} AND NOT coalesce(bool_or(seen.is_last), false) FROM seen)`;
  const goesOn = sql`(SELECT coalesce(bool_or(seen.is_last), false) FROM seen)`;
  return sql`WITH seen AS MATERIALIZED (
      SELECT each.* FROM (
        SELECT first.key, first.id, first.folded_name,
          (first.project_id IN (${memberProjects(query)})) IS TRUE AS is_own,
          row_number() OVER (ORDER BY ${placeOf(sql`first`, order)}) = ${MEMBERS_DEPTH} AS is_last
        FROM (${first}) first
      ) each WHERE each.is_own OR each.is_last
    ), ${headsAndTails(query, order, sql`NOT ${isSeen}`)}
    SELECT each.key, each.id, each.folded_name,
      each.goes_on AND lead(each.id) OVER (ORDER BY ${placeOf(sql`each`, order)}) IS NULL AS is_end
    FROM (
      SELECT seen.key, seen.id, seen.folded_name, ${goesOn} AS goes_on FROM seen WHERE ${isSeen} AND seen.is_own
      UNION ALL SELECT read.key, read.id, read.folded_name, cut.is_real FROM cut CROSS JOIN (
        SELECT head.key, head.id, head.folded_name FROM head UNION ALL
        SELECT tail.key, tail.id, tail.folded_name FROM tail
      ) read WHERE (read.key, read.id) ${order.isUpTo} (cut.key, cut.id)
    ) each ORDER BY ${placeOf(sql`each`, order)}`;
}

/**
 * Common table expressions. `head` takes from each project its share; `bound` lies in the middle of all these. Projects of which
 * everything taken lies before it are read further, up to it, and share again what may be read: `tail`. What lies up to `cut`,
 * the bound or where the first of these ends before it, has been read of every project.
 */
function headsAndTails(query: SortedQuery, order: OrderSql, onlyIf: Sql<SortedQuery>): Sql<SortedQuery> {
  const { column, direction, isAfter, isBefore, isUpTo, last } = order;
  const { row, state, behind } = listedInProject(query, order);
  const inOrder = sql`ORDER BY ${column} ${direction}, w.id ${direction}`;
  const size = sql`(SELECT share.size FROM share)`;
  const bound = sql`(SELECT bound.key, bound.id FROM bound)`;
  const rest = sql`(SELECT rest.size FROM rest)`;
  return sql`source AS MATERIALIZED (
      ${memberProjects(query)} AND ${onlyIf}
    ), share AS MATERIALIZED (
      SELECT ceil(${READ}::float8 / greatest(count(*), 1))::bigint AS size FROM source
    ), head AS MATERIALIZED (
      SELECT own.* FROM source CROSS JOIN LATERAL (
        SELECT ${row}, row_number() OVER (${inOrder}) AS rank
        FROM workflow w WHERE w.project_id = source.project_id ${state} ${behind} ${inOrder} LIMIT ${size}
      ) own
    ), bound AS MATERIALIZED (
      (SELECT head.key, head.id, true AS is_real FROM head ORDER BY ${placeOf(sql`head`, order)} OFFSET ${READ} / 2 LIMIT 1)
      UNION ALL SELECT ${last}, false ORDER BY key ${direction}, id ${direction} LIMIT 1
    ), open AS MATERIALIZED (
      SELECT head.* FROM head WHERE head.rank = ${size} AND (head.key, head.id) ${isBefore} ${bound}
    ), rest AS MATERIALIZED (
      SELECT ceil(${READ}::float8 / greatest(count(*), 1))::bigint AS size FROM open
    ), tail AS MATERIALIZED (
      SELECT next.* FROM open CROSS JOIN LATERAL (
        SELECT ${row}, row_number() OVER (${inOrder}) AS rank FROM workflow w WHERE w.project_id = open.project_id ${state}
          AND (${column}, w.id) ${isAfter} (open.key, open.id) AND (${column}, w.id) ${isUpTo} ${bound}
        ${inOrder} LIMIT ${rest}
      ) next
    ), cut AS MATERIALIZED (
      SELECT each.* FROM (
        SELECT tail.key, tail.id, true AS is_real FROM tail WHERE tail.rank = ${rest} UNION ALL SELECT bound.* FROM bound
      ) each ORDER BY ${placeOf(sql`each`, order)} LIMIT 1
    )`;
}

/** The order of rows that have key and id. */
function placeOf(rows: Sql, { direction }: OrderSql): Sql {
  return sql`${rows}.key ${direction}, ${rows}.id ${direction}`;
}
