// The statements behind lists of workflows: one page in some order, searched or not, and how many there are.
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import type { Sql } from '../../platform/database/sql.js';
import { joined, parameter, sql } from '../../platform/database/sql.js';
import type { Place } from '../api/page-cursor.js';
import type { MemberScope } from '../rights/rights.js';

/** The sort keys; without one a list is in the order of ids. */
export const SORT_KEYS = ['updatedAt', 'name'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

export const DIRECTIONS = ['asc', 'desc'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** Up to so many are counted exactly. */
export const MAX_COUNT = 1000;

/** The workflows of a list: those of which each given member is true. */
export interface WorkflowScope extends MemberScope {
  readonly projectId?: string;
  readonly active?: boolean;
  /** The whole name. */
  readonly name?: string;
  /** Each of its words begins a word of the name. */
  readonly search?: string;
}

/** One page of a list. */
export interface WorkflowPageQuery extends WorkflowScope {
  readonly sort: SortKey | 'id';
  readonly order: Direction;
  /** Only the workflows behind this place. */
  readonly after?: Place;
  readonly limit: number;
}

/** A workflow as lists show it. */
export interface ListedWorkflow {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly active: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A workflow and its place in the list. */
export interface PlacedWorkflow extends ListedWorkflow, Place {
  /** Whether the search matches it. One that does not match ends the page. */
  readonly isFound: boolean;
  /** Whether the search stopped here although the list may go on. */
  readonly isEnd: boolean;
}

/** How many workflows there are, as far as they were counted. */
export interface WorkflowCount {
  /** MAX_COUNT at most. */
  readonly count: number;
  /** Whether there are more than MAX_COUNT, or may be because a search stopped before the end. */
  readonly hasMore: boolean;
}

interface CountRow {
  /** Text, as the driver reads a bigint. */
  readonly count: string;
  readonly isEnd: boolean;
}

/** The input of both statements. */
type ListSql = Sql<WorkflowScope & Partial<Pick<WorkflowPageQuery, 'after' | 'limit'>>>;
type CountStatement = PreparedStatement<WorkflowScope, CountRow>;
type PageStatement = PreparedStatement<WorkflowPageQuery, PlacedWorkflow>;

const PROJECT_ID: Sql<WorkflowScope> = parameter('uuid', ({ projectId }) => projectId);
const MEMBER_ID: Sql<WorkflowScope> = parameter('uuid', ({ memberId }) => memberId);
const OTHER_MEMBER_ID: Sql<WorkflowScope> = parameter('uuid', ({ otherMemberId }) => otherMemberId);
const ACTIVE: Sql<WorkflowScope> = parameter('boolean', ({ active }) => active);
const NAME: Sql<WorkflowScope> = parameter('text', ({ name }) => name);
const SEARCH: Sql<WorkflowScope> = parameter('text', ({ search }) => search);
const AFTER_KEY: ListSql = parameter('text', ({ after }) => after?.key);
const AFTER_ID: ListSql = parameter('uuid', ({ after }) => after?.id);
const LIMIT: ListSql = parameter('bigint', ({ limit }) => limit);

/** A search looks through so many workflows for one page, or for one count. */
const SEARCHED = sql`10000`;
/** One more than MAX_COUNT. */
const COUNTED = sql`1001`;

/** @rule B.list What a list says of a workflow: nothing whose size its author chooses. */
const LISTED_COLUMNS = sql`w.id, w.project_id AS "projectId", w.name, w.active,
  w.created_at AS "createdAt", w.updated_at AS "updatedAt"`;

/** How an order is written in SQL. Workflows that are equal in it come in the order of their ids. */
interface OrderSql {
  /** The column of `workflow w` that is sorted by. */
  readonly column: Sql;
  /** `listed.key` as text, from which AFTER_KEY is read again without loss. */
  readonly keyText: Sql;
  /** AFTER_KEY in the type of the column; undefined for the order of ids, in which a place has no key. */
  readonly after?: ListSql;
}

const ORDERS: Readonly<Record<WorkflowPageQuery['sort'], OrderSql>> = {
  id: { column: sql`w.id`, keyText: sql`''` },
  updatedAt: {
    column: sql`w.updated_at`,
    keyText: sql`to_char(listed.key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
    after: sql`${AFTER_KEY}::timestamptz`,
  },
  name: {
    column: sql`w.folded_name`,
    keyText: sql`listed.key`,
    after: sql`${AFTER_KEY} COLLATE "C"`,
  },
};

const pages = new Map<string, PageStatement>();
const counts = new Map<string, CountStatement>();

/** The text depends only on which members are given, and so does the name: parsing and planning it takes longer than running it. */
export function workflowPage(query: WorkflowPageQuery): PageStatement {
  const { sort, order, after } = query;
  const name = [
    `workflows_by_${sort}_${order}`,
    ...namesOf(query),
    ...(after === undefined ? [] : ['after']),
  ];
  return statementOf(pages, name, () => pageText(query));
}

export function workflowCount(query: WorkflowScope): CountStatement {
  return statementOf(counts, ['workflow_count', ...namesOf(query)], () => countText(query));
}

export function workflowCountOf({ count, isEnd }: CountRow): WorkflowCount {
  const found = Number(count);
  return { count: Math.min(found, MAX_COUNT), hasMore: isEnd || found > MAX_COUNT };
}

function statementOf<Query, Row>(
  statements: Map<string, PreparedStatement<Query, Row>>,
  names: readonly string[],
  textOf: () => Sql<Query>,
): PreparedStatement<Query, Row> {
  const name = names.join('_').toLowerCase();
  const statement = statements.get(name) ?? new PreparedStatement<Query, Row>(name, textOf());
  statements.set(name, statement);
  return statement;
}

/** Without `Id`, because PostgreSQL cuts names after 63 bytes. */
function namesOf(scope: WorkflowScope): string[] {
  const given = (['projectId', 'active', 'name', 'search'] as const).filter(
    (member) => scope[member] !== undefined,
  );
  const members = scope.memberId === undefined ? [] : [scope.otherMemberId === undefined ? 'member' : 'both'];
  return [...members, ...given.map((member) => member.replace(/Id$/, ''))];
}

/**
 * Places first, which indexes alone have, and then only the rows that are answered, each by its key: the wide rows of the
 * others are never read.
 */
function pageText(query: WorkflowPageQuery): ListSql {
  const page = query.search === undefined ? plainPage(query) : searchedPage(query);
  return sql`WITH listed AS MATERIALIZED (${page})
    SELECT shown.*, ${ORDERS[query.sort].keyText} AS key, listed.is_found AS "isFound", listed.is_end AS "isEnd"
    FROM listed CROSS JOIN LATERAL (
      SELECT ${LISTED_COLUMNS} FROM workflow w WHERE w.id = listed.id LIMIT 1
    ) shown ${orderBy(query)}`;
}

function plainPage(query: WorkflowPageQuery): ListSql {
  return sql`SELECT listed.key, listed.id, true AS is_found, false AS is_end FROM (${firstOf(query, LIMIT)}) listed`;
}

/** `is_end` marks the last workflow that was looked at, if the list may go on: the next page begins behind it. */
function searchedPage(query: WorkflowPageQuery): ListSql {
  return sql`SELECT listed.* FROM (
      SELECT listed.key, listed.id, ${IS_FOUND} AS is_found,
        row_number() OVER (${orderBy(query)}) = ${SEARCHED} AS is_end
      FROM (${firstOf(query, SEARCHED)}) listed
    ) listed WHERE listed.is_found OR listed.is_end ${orderBy(query)} LIMIT ${LIMIT}`;
}

function countText(query: WorkflowScope): ListSql {
  if (query.search === undefined)
    return sql`SELECT count(*), false AS "isEnd" FROM (${anyOf(query, COUNTED)}) counted`;
  const first = firstOf({ ...query, sort: 'updatedAt', order: 'desc' }, SEARCHED);
  return sql`SELECT count(*) FILTER (WHERE ${IS_FOUND}), count(*) = ${SEARCHED} AS "isEnd" FROM (${first}) listed`;
}

/**
 * Whether the words that are searched for, the first sixteen, begin words of `listed.folded_name`. Folded words have no pattern
 * characters. Each more would take its time of every name that is looked at.
 */
const IS_FOUND: ListSql = sql`(' ' || listed.folded_name) LIKE ALL (ARRAY(
        SELECT '% ' || word || '%' FROM unnest(string_to_array(folded_words(${SEARCH}), ' ')) AS word
        LIMIT 16
      ))`;

/** A part of a list in some order. */
type OrderedQuery = WorkflowScope & Pick<WorkflowPageQuery, 'sort' | 'order' | 'after'>;

/**
 * A SELECT of the first workflows of a list: key, id and folded name, which the indexes have. Of a member's projects each has its
 * own range of an index: the first ones of each project are read, and merged.
 */
function firstOf(query: OrderedQuery, limit: ListSql): ListSql {
  const { column } = ORDERS[query.sort];
  const conditions = [...conditionsOf(query), ...(query.after === undefined ? [] : [isBehind(query)])];
  const first = sql`SELECT ${column} AS key, w.id, w.folded_name FROM workflow w
      ${where(conditions)} ORDER BY ${column} ${directionOf(query)}, w.id ${directionOf(query)} LIMIT ${limit}`;
  if (query.memberId === undefined) return first;
  return sql`${ofEachProject(query, first)} ${orderBy(query)} LIMIT ${limit}`;
}

/** Whether a workflow comes after the place that a page begins behind. */
function isBehind({ sort, order }: OrderedQuery): ListSql {
  const { column, after } = ORDERS[sort];
  const own = after === undefined ? column : sql`(${column}, w.id)`;
  const place = after === undefined ? AFTER_ID : sql`(${after}, ${AFTER_ID})`;
  return order === 'asc' ? sql`${own} > ${place}` : sql`${own} < ${place}`;
}

/** A SELECT of some workflows of a list, in no order, which stops when it has enough. */
function anyOf(query: WorkflowScope, limit: ListSql): ListSql {
  const any = sql`SELECT w.id FROM workflow w ${where(conditionsOf(query))} LIMIT ${limit}`;
  return query.memberId === undefined ? any : sql`${ofEachProject(query, any)} LIMIT ${limit}`;
}

/** An array, because the planner expects few projects of it, and then reads each by its index. */
function ofEachProject(query: WorkflowScope, workflows: ListSql): ListSql {
  return sql`SELECT listed.* FROM unnest(ARRAY(${memberProjects(query)})) AS source (project_id)
      CROSS JOIN LATERAL (${workflows}) listed`;
}

/** The projects of the members, or the one that is named if it is among them. */
function memberProjects({ projectId, otherMemberId }: WorkflowScope): Sql<WorkflowScope> {
  const project = projectId === undefined ? sql`` : sql`AND member.project_id = ${PROJECT_ID}`;
  const own = sql`SELECT member.project_id FROM project_member member WHERE member.user_id = ${MEMBER_ID} ${project}`;
  if (otherMemberId === undefined) return own;
  return sql`${own} AND EXISTS (
      SELECT FROM project_member other WHERE other.project_id = member.project_id AND other.user_id = ${OTHER_MEMBER_ID}
    )`;
}

function conditionsOf({ memberId, projectId, active, name }: WorkflowScope): ListSql[] {
  const inProject = projectId === undefined ? [] : [sql`w.project_id = ${PROJECT_ID}`];
  return [
    ...(memberId === undefined ? inProject : [sql`w.project_id = source.project_id`]),
    ...(active === undefined ? [] : [sql`w.active = ${ACTIVE}`]),
    ...(name === undefined ? [] : [sql`w.name = ${NAME}`]),
  ];
}

function where(conditions: readonly ListSql[]): ListSql {
  return conditions.length === 0 ? sql`` : sql`WHERE ${joined(conditions, sql` AND `)}`;
}

function orderBy(query: OrderedQuery): Sql {
  return sql`ORDER BY listed.key ${directionOf(query)}, listed.id ${directionOf(query)}`;
}

function directionOf({ order }: Pick<WorkflowPageQuery, 'order'>): Sql {
  return order === 'asc' ? sql`ASC` : sql`DESC`;
}
