// The statements for lists of workflows: a page in some order, with or without a search, and a count.
import type { Sql } from '../../platform/database/sql.js';
import { joined, parameter, PreparedStatement, sql } from '../../platform/database/sql.js';
import type { Place } from '../api/pages.js';
import type { MemberScope } from '../rights/rights.js';

export const SORT_KEYS = ['updatedAt', 'name'] as const;
type SortKey = (typeof SORT_KEYS)[number];

/** Counting stops here. */
export const MAX_COUNT = 1000;

/** The workflows of a list, which match every given property. */
export interface WorkflowScope extends MemberScope {
  readonly projectId?: string;
  readonly active?: boolean;
  readonly name?: string;
  /** A part of the name; case does not matter. */
  readonly search?: string;
}

export interface WorkflowPageQuery extends WorkflowScope {
  readonly sort: SortKey;
  /** Only workflows after this place. */
  readonly after?: Place;
  readonly limit: number;
}

export interface ListedWorkflow {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly active: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type PlacedWorkflow = ListedWorkflow & Place;

/** The input of both statements. */
type ListSql = Sql<WorkflowScope & Partial<Pick<WorkflowPageQuery, 'after' | 'limit'>>>;
type CountStatement = PreparedStatement<WorkflowScope, { readonly count: number }>;
type PageStatement = PreparedStatement<WorkflowPageQuery, PlacedWorkflow>;

const PROJECT_ID: Sql<WorkflowScope> = parameter('uuid', ({ projectId }) => projectId);
const MEMBER_ID: Sql<WorkflowScope> = parameter('uuid', ({ memberId }) => memberId);
const OTHER_MEMBER_ID: Sql<WorkflowScope> = parameter('uuid', ({ otherMemberId }) => otherMemberId);
const ACTIVE: Sql<WorkflowScope> = parameter('boolean', ({ active }) => active);
const NAME: Sql<WorkflowScope> = parameter('text', ({ name }) => name);
const PATTERN: Sql<WorkflowScope> = parameter(
  'text',
  ({ search = '' }) => `%${search.replace(/[\\%_]/g, '\\$&')}%`,
);
const AFTER_KEY: ListSql = parameter('text', ({ after }) => after?.key);
const AFTER_ID: ListSql = parameter('uuid', ({ after }) => after?.id);
const LIMIT: ListSql = parameter('bigint', ({ limit }) => limit);

/** MAX_COUNT + 1. */
const COUNTED = sql`1001`;

/** @rule B.list What a list contains of a workflow: nothing whose size its author can choose. */
const LISTED_COLUMNS = sql`w.id, w.project_id AS "projectId", w.name, w.active,
  w.created_at AS "createdAt", w.updated_at AS "updatedAt"`;

/** A sort order in SQL. Equal workflows are sorted by id. */
interface OrderSql {
  /** The sort key: `w.updated_at`, or an indexed expression. */
  readonly key: Sql;
  /** `listed.key` as a string, which `after` reads without loss. */
  readonly keyText: Sql;
  readonly after: ListSql;
  readonly direction: Sql;
  readonly isAfter: Sql;
}

const ORDERS: Readonly<Record<SortKey, OrderSql>> = {
  updatedAt: {
    key: sql`w.updated_at`,
    keyText: sql`to_char(listed.key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
    after: sql`${AFTER_KEY}::timestamptz`,
    direction: sql`DESC`,
    isAfter: sql`<`,
  },
  name: {
    key: sql`lower(w.name) COLLATE "C"`,
    keyText: sql`listed.key`,
    after: AFTER_KEY,
    direction: sql`ASC`,
    isAfter: sql`>`,
  },
};

const pages = new Map<string, PageStatement>();
const counts = new Map<string, CountStatement>();

/** Text and name depend only on which properties are given: parsing and planning take longer than running. */
export function workflowPage(query: WorkflowPageQuery): PageStatement {
  const { sort, after } = query;
  const name = [`workflows_by_${sort}`, ...namesOf(query), ...(after === undefined ? [] : ['after'])];
  return statementOf(pages, name, () => pageText(query));
}

export function workflowCount(query: WorkflowScope): CountStatement {
  return statementOf(counts, ['workflow_count', ...namesOf(query)], () => countText(query));
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

/** Without `Id`, because PostgreSQL truncates names after 63 bytes. */
function namesOf(scope: WorkflowScope): string[] {
  const given = (['projectId', 'active', 'name', 'search'] as const).filter(
    (member) => scope[member] !== undefined,
  );
  const members = scope.memberId === undefined ? [] : [scope.otherMemberId === undefined ? 'member' : 'both'];
  return [...members, ...given.map((member) => member.replace(/Id$/, ''))];
}

/**
 * Finds the places by index alone, and then reads only the returned rows by their keys: other wide rows are
 * never read.
 */
function pageText(query: WorkflowPageQuery): ListSql {
  return sql`WITH listed AS MATERIALIZED (${firstOf(query)})
    SELECT shown.*, ${ORDERS[query.sort].keyText} AS key FROM listed CROSS JOIN LATERAL (
      SELECT ${LISTED_COLUMNS} FROM workflow w WHERE w.id = listed.id LIMIT 1
    ) shown ${orderBy(query)}`;
}

/**
 * Selects key and id of the first workflows of a list, which the indexes contain. Each of a member's projects
 * has its own range in an index: the first workflows of each project are read and merged.
 */
function firstOf(query: WorkflowPageQuery): ListSql {
  const { key, direction, isAfter, after } = ORDERS[query.sort];
  const rest = query.after === undefined ? [] : [sql`(${key}, w.id) ${isAfter} (${after}, ${AFTER_ID})`];
  const first = sql`SELECT ${key} AS key, w.id FROM workflow w ${where([...conditionsOf(query), ...rest])}
      ORDER BY ${key} ${direction}, w.id ${direction} LIMIT ${LIMIT}`;
  if (query.memberId === undefined) return first;
  return sql`${ofEachProject(query, first)} ${orderBy(query)} LIMIT ${LIMIT}`;
}

/** Stops counting at the limit. */
function countText(query: WorkflowScope): ListSql {
  const any = sql`SELECT w.id FROM workflow w ${where(conditionsOf(query))} LIMIT ${COUNTED}`;
  const all = query.memberId === undefined ? any : sql`${ofEachProject(query, any)} LIMIT ${COUNTED}`;
  return sql`SELECT count(*)::int AS count FROM (${all}) counted`;
}

/** Uses an array, for which the planner expects few projects and reads each by its index. */
function ofEachProject(query: WorkflowScope, workflows: ListSql): ListSql {
  return sql`SELECT listed.* FROM unnest(ARRAY(${memberProjects(query)})) AS source (project_id)
      CROSS JOIN LATERAL (${workflows}) listed`;
}

/** The member's projects, or the given one if it is among them. */
function memberProjects({ projectId, otherMemberId }: WorkflowScope): Sql<WorkflowScope> {
  const project = projectId === undefined ? sql`` : sql`AND member.project_id = ${PROJECT_ID}`;
  const own = sql`SELECT member.project_id FROM project_member member WHERE member.user_id = ${MEMBER_ID} ${project}`;
  if (otherMemberId === undefined) return own;
  return sql`${own} AND EXISTS (
      SELECT FROM project_member other WHERE other.project_id = member.project_id AND other.user_id = ${OTHER_MEMBER_ID}
    )`;
}

function conditionsOf({ memberId, projectId, active, name, search }: WorkflowScope): ListSql[] {
  const inProject = projectId === undefined ? [] : [sql`w.project_id = ${PROJECT_ID}`];
  return [
    ...(memberId === undefined ? inProject : [sql`w.project_id = source.project_id`]),
    ...(active === undefined ? [] : [sql`w.active = ${ACTIVE}`]),
    ...(name === undefined ? [] : [sql`w.name = ${NAME}`]),
    ...(search === undefined ? [] : [sql`w.name ILIKE ${PATTERN}`]),
  ];
}

function where(conditions: readonly ListSql[]): ListSql {
  return conditions.length === 0 ? sql`` : sql`WHERE ${joined(conditions, sql` AND `)}`;
}

function orderBy({ sort }: WorkflowPageQuery): Sql {
  const { direction } = ORDERS[sort];
  return sql`ORDER BY listed.key ${direction}, listed.id ${direction}`;
}
