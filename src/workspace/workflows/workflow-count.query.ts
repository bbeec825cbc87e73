// The statement that counts the workflows of a list, exactly as far as people care.
import { PreparedStatement } from '../../token-exchange/database/prepared-statement.js';
import type { Sql } from '../../token-exchange/database/sql.js';
import { parameter, sql } from '../../token-exchange/database/sql.js';
import { memberNames } from './member-projects.sql.js';
import type { SortedQuery, WorkflowScope } from './sorted-workflows.sql.js';
import { anyOf, conditionsOf, sampleOf } from './sorted-workflows.sql.js';
import { IS_EVERYTHING_SOUGHT, isSought, listedByIndex, soughtWords } from './workflow-search.sql.js';

/** Up to so many are counted exactly. */
export const MAX_COUNT = 1000;

/** Which workflows to count. */
export interface WorkflowCountQuery extends WorkflowScope {
  readonly search?: string;
}

interface CountRow {
  /** Text, as the driver reads a bigint: MAX_COUNT + 1 stands for that and everything above. */
  readonly count: string;
}

type CountSql = Sql<SortedQuery & WorkflowCountQuery>;
type CountStatement = PreparedStatement<WorkflowCountQuery, CountRow>;

const SEARCH: CountSql = parameter('text', ({ search }) => search);
const ENOUGH = sql`1001`;
/** A first few tell whether it is worth while to look through more before the index of words is asked. */
const FEW = sql`200`;
const COMMON = sql`20`;
const LOOKED_THROUGH = sql`10000`;

const statements = new Map<string, CountStatement>();

export function workflowCount(query: WorkflowCountQuery): CountStatement {
  const given = (['projectId', 'active', 'search'] as const).filter((member) => query[member] !== undefined);
  const name = ['workflow_count', ...memberNames(query), ...given].join('_').toLowerCase();
  const statement = statements.get(name) ?? new PreparedStatement(name, textOf(query));
  statements.set(name, statement);
  return statement;
}

function textOf(query: WorkflowCountQuery): CountSql {
  return query.search === undefined ? plainCount(query) : soughtCount(query);
}

/** Projects are read one after another, each in an index, and no further than enough is found. */
function plainCount(query: WorkflowCountQuery): CountSql {
  return sql`SELECT count(*) FROM (${anyOf(query)} LIMIT ${ENOUGH}) counted`;
}

function soughtCount(query: WorkflowCountQuery): CountSql {
  const isShort = sql`(SELECT count(*) < ${FEW} FROM few_or_all)`;
  const isCommon = sql`(SELECT sample.is_common OR ${isShort} OR ${IS_EVERYTHING_SOUGHT} FROM sample)`;
  const isOpen = sql`(SELECT verdict.is_open FROM verdict)`;
  return sql`WITH ${soughtWords(SEARCH)}, few_or_all AS MATERIALIZED (
      ${anyOf(query)} LIMIT ${FEW}
    ), sample AS MATERIALIZED (
      SELECT count(*) >= ${COMMON} AS is_common FROM (${sampleOf(query, FEW)}) few
      WHERE ${isSought(sql`few.folded_name`)}
    ), near AS MATERIALIZED (
      SELECT FROM (${anyOf(query)} LIMIT ${LOOKED_THROUGH}) others
      WHERE ${isCommon} AND ${isSought(sql`others.folded_name`)} LIMIT ${ENOUGH}
    ), verdict AS MATERIALIZED (
      SELECT count(*) < ${ENOUGH} AND NOT ${isShort} AND NOT ${IS_EVERYTHING_SOUGHT} AS is_open FROM near
    ), ${listedByIndex(isOpen)}
    SELECT CASE WHEN ${isOpen} THEN (
      SELECT count(*) FROM (
        SELECT FROM listed w WHERE ${conditionsOf(query)} LIMIT ${ENOUGH}
      ) counted
    ) ELSE (SELECT count(*) FROM near) END AS count`;
}
