// The statement that counts the workflows of a list, exactly as far as people care.
import { PreparedStatement } from '../../database/prepared-statement.js';
import type { Sql } from '../../database/sql.js';
import { joined, parameter, sql } from '../../database/sql.js';
import type { SortedQuery, WorkflowScope } from './sorted-workflows.sql.js';
import { ACTIVE, foundInOrder, memberProjects, PROJECT_ID } from './sorted-workflows.sql.js';
import { orderSql } from './workflow-order.js';
import { IS_SOUGHT, soughtByIndex, soughtWords } from './workflow-search.sql.js';

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
/** So many rows are looked through before the index of words is asked. */
const LOOKED_THROUGH = sql`5000`;

const statements = new Map<string, CountStatement>();

export function workflowCount(query: WorkflowCountQuery): CountStatement {
  const given = (['memberId', 'projectId', 'active', 'search'] as const).filter(
    (member) => query[member] !== undefined,
  );
  const name = ['workflow_count', ...given].join('_').toLowerCase();
  const statement = statements.get(name) ?? new PreparedStatement(name, textOf(query));
  statements.set(name, statement);
  return statement;
}

function textOf(query: WorkflowCountQuery): CountSql {
  return query.search === undefined ? plainCount(query) : soughtCount(query);
}

/** Projects are read one after another, each in an index, and no further than enough is found. */
function plainCount({ memberId, projectId, active }: WorkflowCountQuery): CountSql {
  const project = projectId === undefined ? [] : [sql<SortedQuery>`w.project_id = ${PROJECT_ID}`];
  const state = active === undefined ? [] : [sql<SortedQuery>`w.active = ${ACTIVE}`];
  const rows =
    memberId === undefined
      ? sql<SortedQuery>`SELECT FROM workflow w ${where([...project, ...state])}`
      : sql<SortedQuery>`SELECT FROM (${memberProjects(projectId)}) source CROSS JOIN LATERAL (
          SELECT FROM workflow w WHERE w.project_id = source.project_id
            ${joined(
              state.map((condition) => sql`AND ${condition}`),
              sql` `,
            )} LIMIT ${ENOUGH}
        ) own`;
  return sql`SELECT count(*) FROM (${rows} LIMIT ${ENOUGH}) counted`;
}

function soughtCount(query: WorkflowCountQuery): CountSql {
  const order = orderSql('updatedAt', 'desc');
  const isOpen = sql<SortedQuery>`(SELECT verdict.is_open FROM verdict)`;
  return sql`WITH ${soughtWords(SEARCH)}, ${foundInOrder(query, order, LOOKED_THROUGH)}, near AS MATERIALIZED (
      SELECT FROM found WHERE ${IS_SOUGHT} LIMIT ${ENOUGH}
    ), verdict AS MATERIALIZED (
      SELECT (SELECT count(*) FROM near) < ${ENOUGH} AND (SELECT count(*) FROM found) >= ${LOOKED_THROUGH} AS is_open
    ), far AS MATERIALIZED (
      SELECT FROM (${soughtByIndex(query, order, isOpen)}) listed LIMIT ${ENOUGH}
    )
    SELECT CASE WHEN verdict.is_open THEN (SELECT count(*) FROM far) ELSE (SELECT count(*) FROM near) END AS count FROM verdict`;
}

function where<Query>(conditions: readonly Sql<Query>[]): Sql<Query> {
  return conditions.length === 0 ? sql`` : sql`WHERE ${joined(conditions, sql` AND `)}`;
}
