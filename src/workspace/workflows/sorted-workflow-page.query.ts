// The statement that reads one page of a sorted list of workflows, of all or of those that are sought by their names.
import { PreparedStatement } from '../../token-exchange/database/prepared-statement.js';
import type { Sql } from '../../token-exchange/database/sql.js';
import { parameter, sql } from '../../token-exchange/database/sql.js';
import { memberNames } from './member-projects.sql.js';
import type { SortedQuery } from './sorted-workflows.sql.js';
import { anyOf, conditionsOf, firstInOrder, sampleOf } from './sorted-workflows.sql.js';
import type { Direction, OrderSql, SortKey } from './workflow-order.js';
import { orderSql } from './workflow-order.js';
import type { ListedWorkflow } from './workflow-page.query.js';
import { LISTED_COLUMNS } from './workflow-page.query.js';
import { IS_EVERYTHING_SOUGHT, isSought, listedByIndex, soughtWords } from './workflow-search.sql.js';

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
 * The index of words lists all workflows that have a word, at a cost that grows with their number; what many have is found
 * sooner by walking through the list. So a few names tell which way to take.
 */
const SAMPLE = sql`300`;
/** So many among these make a word a common one: more than one in two hundred. */
const COMMON = sql`2`;
/** So far the list is walked through at most, or twice as far as the sample lets expect. */
const FURTHEST = sql`12000`;

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
    SELECT shown.*, ${order.keyText} AS key FROM page CROSS JOIN LATERAL (
      SELECT ${LISTED_COLUMNS} FROM workflow w WHERE w.id = page.id LIMIT 1
    ) shown ORDER BY page.key ${order.direction}, page.id ${order.direction}`;
}

function plainPage(query: SortedPageQuery, order: OrderSql): PageSql {
  return sql`page AS MATERIALIZED (${firstInOrder(query, { order, limit: LIMIT, onlyIf: sql`true` })})`;
}

/**
 * By walking through the list where that is likely to end soon, or comes to the end of a short list, or where everything is
 * sought; by the index of words, which has those of all lists, where it is not, or did not.
 */
function soughtPage(query: SortedPageQuery, order: OrderSql): PageSql {
  const isShort = sql`(SELECT count(*) < ${SAMPLE} FROM few_or_all)`;
  const isCommon = sql`(SELECT sample.hits >= ${COMMON} OR ${isShort} OR ${IS_EVERYTHING_SOUGHT} FROM sample)`;
  const isOpen = sql`(SELECT count(*) < ${LIMIT} AND NOT ${isShort} AND NOT ${IS_EVERYTHING_SOUGHT} FROM near)`;
  const depth = sql<SortedPageQuery>`(SELECT sample.depth FROM sample)`;
  const walked = firstInOrder<SortedPageQuery>(query, { order, limit: depth, onlyIf: isCommon });
  const ordered = sql`ORDER BY key ${order.direction}, id ${order.direction} LIMIT ${LIMIT}`;
  return sql`${soughtWords(SEARCH)}, few_or_all AS MATERIALIZED (
      ${anyOf(query)} LIMIT ${SAMPLE}
    ), sample AS MATERIALIZED (
      SELECT count(*) AS hits,
        greatest(${SAMPLE}, least(${FURTHEST}, 2 * ${LIMIT} * ${SAMPLE} / greatest(count(*), 1))) AS depth
      FROM (${sampleOf(query, SAMPLE)}) few WHERE ${isSought(sql`few.folded_name`)}
    ), near AS MATERIALIZED (
      SELECT walked.key, walked.id FROM (${walked}) walked WHERE ${isSought(sql`walked.folded_name`)} ${ordered}
    ), ${listedByIndex(isOpen)}, far AS MATERIALIZED (
      SELECT ${order.column} AS key, w.id FROM listed w WHERE ${conditionsOf(query, order)}
    ), page AS MATERIALIZED (
      SELECT near.* FROM near WHERE NOT ${isOpen} UNION ALL SELECT far.* FROM far ${ordered}
    )`;
}
