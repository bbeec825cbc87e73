// The statement that counts the workflows of a list, exactly as far as people care.
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import type { Sql } from '../../platform/database/sql.js';
import { parameter, sql } from '../../platform/database/sql.js';
import { memberNames } from './member-projects.sql.js';
import type { SortedQuery, WorkflowScope } from './sorted-workflows.sql.js';
import { anyOf, conditionsOf, firstInOrder } from './sorted-workflows.sql.js';
import { orderSql } from './workflow-order.js';
import { IS_LISTED, isSought, listedByIndex, soughtWords } from './workflow-search.sql.js';

/** Up to so many are counted exactly. */
export const MAX_COUNT = 1000;

/** Which workflows to count. */
export interface WorkflowCountQuery extends WorkflowScope {
  readonly search?: string;
}

/** How many workflows there are, as far as they were counted. */
export interface WorkflowCount {
  /** MAX_COUNT at most. */
  readonly count: number;
  /** Whether there are more than MAX_COUNT, or there may be more since a search ended before the list did. */
  readonly hasMore: boolean;
}

interface CountRow {
  /** Text, as the driver reads a bigint: up to MAX_COUNT + 1. */
  readonly count: string;
  /** Whether a search ended before the list did. */
  readonly isEnd: boolean;
}

type CountSql = Sql<SortedQuery & WorkflowCountQuery>;
type CountStatement = PreparedStatement<WorkflowCountQuery, CountRow>;

const SEARCH: CountSql = parameter('text', ({ search }) => search);
const ENOUGH = sql`1001`;
/** A search looks through so many workflows, and no further: then it tells how many these are at least. */
const DEPTH = sql`10000`;
/** Which names have a word hangs together with their order, and less with that of their changes. */
const ORDER = orderSql('updatedAt', 'desc');

const statements = new Map<string, CountStatement>();

export function workflowCount(query: WorkflowCountQuery): CountStatement {
  const given = (['projectId', 'active', 'search'] as const).filter((member) => query[member] !== undefined);
  const name = ['workflow_count', ...memberNames(query), ...given].join('_').toLowerCase();
  const statement = statements.get(name) ?? new PreparedStatement(name, textOf(query));
  statements.set(name, statement);
  return statement;
}

export function workflowCountOf({ count, isEnd }: CountRow): WorkflowCount {
  const found = Number(count);
  return { count: Math.min(found, MAX_COUNT), hasMore: isEnd || found > MAX_COUNT };
}

function textOf(query: WorkflowCountQuery): CountSql {
  return query.search === undefined ? plainCount(query) : soughtCount(query);
}

/** Projects are read one after another, each in an index, and no further than enough is found. */
function plainCount(query: WorkflowCountQuery): CountSql {
  return sql`SELECT count(*), false AS "isEnd" FROM (${anyOf(query)} LIMIT ${ENOUGH}) counted`;
}

/** As a page of a search finds its workflows (sorted-workflow-page.query.ts). */
function soughtCount(query: WorkflowCountQuery): CountSql {
  const some =
    query.memberId === undefined
      ? firstInOrder<SortedQuery>(query, { order: ORDER, limit: DEPTH, onlyIf: sql`true` })
      : sql`${anyOf(query)} LIMIT ${DEPTH}`;
  const isOpen = sql`(SELECT coalesce(bool_or(near.is_end), false) AND count(*) < ${ENOUGH} FROM near)`;
  return sql`WITH ${soughtWords(SEARCH)}, near AS MATERIALIZED (
      SELECT looked.* FROM (
        SELECT ${isSought(sql`walked.folded_name`)} AS is_found, row_number() OVER () = ${DEPTH} AS is_end
        FROM (${some}) walked
      ) looked WHERE looked.is_found OR looked.is_end LIMIT ${ENOUGH}
    ), ${listedByIndex(isOpen)}, counted AS MATERIALIZED (
      SELECT near.* FROM near WHERE NOT ${IS_LISTED} UNION ALL
      SELECT true, false FROM listed w WHERE ${IS_LISTED} AND ${isSought(sql`w.folded_name`)} AND ${conditionsOf(query)}
    )
    SELECT count(*) FILTER (WHERE counted.is_found), coalesce(bool_or(counted.is_end), false) AS "isEnd" FROM counted`;
}
