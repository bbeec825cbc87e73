// The statement that reads one page of a sorted list of workflows, of all or of those that are sought by their names.
import { PreparedStatement } from '../../database/prepared-statement.js';
import type { Sql } from '../../database/sql.js';
import { parameter, sql } from '../../database/sql.js';
import type { SortedQuery } from './sorted-workflows.sql.js';
import { foundInOrder } from './sorted-workflows.sql.js';
import type { Direction, OrderSql, SortKey } from './workflow-order.js';
import { orderSql } from './workflow-order.js';
import type { ListedWorkflow } from './workflow-page.query.js';
import { LISTED_COLUMNS } from './workflow-page.query.js';
import { IS_SOUGHT, soughtByIndex, soughtWords } from './workflow-search.sql.js';

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
}

type PageSql = Sql<SortedPageQuery>;
type PageStatement = PreparedStatement<SortedPageQuery, PlacedWorkflow>;

const LIMIT: PageSql = parameter('bigint', ({ limit }) => limit);
const SEARCH: PageSql = parameter('text', ({ search }) => search);

/**
 * So many rows of a list are looked through, in its order, before the index of words is asked. What most names have is found
 * among these, and the index, which tells all that it has at once, need not list it.
 */
const LOOKED_THROUGH = sql`1500`;

const statements = new Map<string, PageStatement>();

/** The text depends only on what is given, and so does the statement's name. */
export function sortedWorkflowPage(query: SortedPageQuery): PageStatement {
  const name = nameOf(query);
  const statement = statements.get(name) ?? new PreparedStatement(name, textOf(query));
  statements.set(name, statement);
  return statement;
}

function nameOf({ sort, order, ...rest }: SortedPageQuery): string {
  const given = (['memberId', 'projectId', 'active', 'search', 'after'] as const).filter(
    (member) => rest[member] !== undefined,
  );
  return ['workflows_by', sort, order, ...given].join('_').toLowerCase();
}

function textOf(query: SortedPageQuery): PageSql {
  const order = orderSql(query.sort, query.order);
  const page = query.search === undefined ? plainPage(query, order) : soughtPage(query, order);
  return sql`WITH ${page}
    SELECT shown.*, ${order.keyText} AS key FROM page CROSS JOIN LATERAL (
      SELECT ${LISTED_COLUMNS} FROM workflow w WHERE w.id = page.id LIMIT 1
    ) shown ORDER BY page.key ${order.direction}, page.id ${order.direction}`;
}

function plainPage(query: SortedPageQuery, order: OrderSql): PageSql {
  return sql`${foundInOrder(query, order, LIMIT)}, page AS MATERIALIZED (
      SELECT found.key, found.id FROM found ${firstOf(sql`found`, order, LIMIT)}
    )`;
}

/** First in the first rows of the list; only if there are more rows, and these are not enough, by the index of words. */
function soughtPage(query: SortedPageQuery, order: OrderSql): PageSql {
  const isOpen = sql<SortedPageQuery>`(SELECT verdict.is_open FROM verdict)`;
  return sql`${soughtWords(SEARCH)}, ${foundInOrder(query, order, LOOKED_THROUGH)}, walked AS MATERIALIZED (
      SELECT found.* FROM found ${firstOf(sql`found`, order, LOOKED_THROUGH)}
    ), near AS MATERIALIZED (
      SELECT found.key, found.id FROM walked found WHERE ${IS_SOUGHT} ${firstOf(sql`found`, order, LIMIT)}
    ), verdict AS MATERIALIZED (
      SELECT (SELECT count(*) FROM near) < ${LIMIT} AND (SELECT count(*) FROM walked) = ${LOOKED_THROUGH} AS is_open
    ), far AS MATERIALIZED (
      ${soughtByIndex(query, order, isOpen)}
    ), page AS MATERIALIZED (
      SELECT found.key, found.id FROM (
        SELECT near.* FROM near WHERE NOT ${isOpen} UNION ALL SELECT far.* FROM far
      ) found ${firstOf(sql`found`, order, LIMIT)}
    )`;
}

function firstOf<Query>(rows: Sql<Query>, { direction }: OrderSql, limit: Sql<Query>): Sql<Query> {
  return sql`ORDER BY ${rows}.key ${direction}, ${rows}.id ${direction} LIMIT ${limit}`;
}
