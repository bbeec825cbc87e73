// The statement that reads one page of a sorted list of workflows, of all or of those that are sought by their names.
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import type { Sql } from '../../platform/database/sql.js';
import { parameter, sql } from '../../platform/database/sql.js';
import { lookedThrough } from './looked-through.sql.js';
import { memberNames } from './member-projects.sql.js';
import type { SortedQuery } from './sorted-workflows.sql.js';
import { conditionsOf, firstInOrder } from './sorted-workflows.sql.js';
import type { Direction, OrderSql, SortKey } from './workflow-order.js';
import { orderSql } from './workflow-order.js';
import type { ListedWorkflow } from './workflow-page.query.js';
import { LISTED_COLUMNS } from './workflow-page.query.js';
import { IS_LISTED, isSought, listedByIndex, soughtWords } from './workflow-search.sql.js';

/** Which page of a sorted list to read. */
export interface SortedPageQuery extends SortedQuery {
  readonly sort: SortKey;
  readonly order: Direction;
  /** Only those of whose names each word of it begins a word. */
  readonly search?: string;
  readonly limit: number;
}

/** A workflow, and its place in the list that it was read in. */
export interface PlacedWorkflow extends ListedWorkflow {
  readonly key: string;
  /** Whether it is one of those sought. One that is not stands at the end of the page. */
  readonly isFound: boolean;
  /** Whether a search ended here before the list did. */
  readonly isEnd: boolean;
}

type PageSql = Sql<SortedPageQuery>;
type PageStatement = PreparedStatement<SortedPageQuery, PlacedWorkflow>;

const LIMIT: PageSql = parameter('bigint', ({ limit }) => limit);
const SEARCH: PageSql = parameter('text', ({ search }) => search);

const statements = new Map<string, PageStatement>();

/** The text depends only on what is given, and so does the statement's name. */
export function sortedWorkflowPage(query: SortedPageQuery): PageStatement {
  const name = nameOf(query);
  const statement = statements.get(name) ?? new PreparedStatement(name, textOf(query));
  statements.set(name, statement);
  return statement;
}

function nameOf({ sort, order, ...rest }: SortedPageQuery): string {
  const given = (['projectId', 'active', 'search', 'after'] as const).filter(
    (member) => rest[member] !== undefined,
  );
  // Without `Id`, since PostgreSQL cuts names after 63 bytes.
  const members = [...memberNames(rest), ...given].map((member) => member.replace(/Id$/, ''));
  return ['workflows_by', sort, order, ...members].join('_').toLowerCase();
}

function textOf(query: SortedPageQuery): PageSql {
  const order = orderSql(query.sort, query.order);
  const page = query.search === undefined ? plainPage(query, order) : soughtPage(query, order);
  return sql`WITH ${page}
    SELECT shown.*, ${order.keyText} AS key, page.is_found AS "isFound", page.is_end AS "isEnd" FROM page CROSS JOIN LATERAL (
      SELECT ${LISTED_COLUMNS} FROM workflow w WHERE w.id = page.id LIMIT 1
    ) shown ORDER BY page.key ${order.direction}, page.id ${order.direction}`;
}

function plainPage(query: SortedPageQuery, order: OrderSql): PageSql {
  const first = firstInOrder(query, { order, limit: LIMIT, onlyIf: sql`true` });
  return sql`page AS MATERIALIZED (
      SELECT first.key, first.id, true AS is_found, false AS is_end FROM (${first}) first
    )`;
}

/**
 * By looking through the list as far as the page allows, which finds what many names have. Where that does not fill
 * the page, by the index of words, which finds what few names have, wherever in the list that is. `is_end` marks the workflow up to
 * which was looked: the next page goes on behind it.
 */
function soughtPage(query: SortedPageQuery, order: OrderSql): PageSql {
  const isOpen = sql`(SELECT coalesce(bool_or(near.is_end), false) AND count(*) < ${LIMIT} FROM near)`;
  return sql`${soughtWords(SEARCH)}, near AS MATERIALIZED (
      SELECT looked.key, looked.id, looked.is_found, looked.is_end FROM (
        SELECT each.*, ${isSought(sql`each.folded_name`)} AS is_found FROM (${lookedThrough(query, order)}) each
      ) looked WHERE looked.is_found OR looked.is_end
      ORDER BY looked.key ${order.direction}, looked.id ${order.direction} LIMIT ${LIMIT}
    ), ${listedByIndex(isOpen)}, page AS MATERIALIZED (
      SELECT near.* FROM near WHERE NOT ${IS_LISTED} UNION ALL SELECT far.* FROM (
        SELECT ${order.column} AS key, w.id, true AS is_found, false AS is_end FROM listed w
        WHERE ${IS_LISTED} AND ${isSought(sql`w.folded_name`)} AND ${conditionsOf(query, order)}
        ORDER BY ${order.column} ${order.direction}, w.id ${order.direction} LIMIT ${LIMIT}
      ) far
    )`;
}
