// The SQL that uses up the ids of many requests, each request's all or none: for statements that do nothing else, and more.
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import type { Sql } from '../../platform/database/sql.js';
import { givenRows, sql } from '../../platform/database/sql.js';

/** An id to be used up. */
export interface AskedId {
  readonly hash: Buffer;
  readonly exp: number;
  /** The index of the request that asks for it. */
  readonly request: number;
}

/** An id that the statement looks up first. */
export interface LookedUpId {
  readonly id: string;
  readonly hash: Buffer;
  /** The index of the request that asks for it; null for one that waits, and does not ask. */
  readonly request: number | null;
}

/** What a statement with the clauses of `consumption` is run with: requests that share no id. */
export interface Consumption<Request> {
  readonly requests: readonly Request[];
  readonly asked: readonly AskedId[];
  /** Empty where each request has one id and nobody waits. */
  readonly lookedUp: readonly LookedUpId[];
}

/** A piece of SQL that finds all its values in a consumption, whatever else the requests hold. */
type ConsumptionSql = Sql<Consumption<unknown>>;

const ASKED: ConsumptionSql = givenRows('asked', ({ asked }: Consumption<unknown>) => asked, {
  hash: ['bytea', ({ hash }) => hash],
  exp: ['float8', ({ exp }) => exp],
  request: ['integer', ({ request }) => request],
});

const LOOKED_UP: ConsumptionSql = givenRows(
  'looked_up',
  ({ lookedUp }: Consumption<unknown>) => lookedUp,
  { hash: ['bytea', ({ hash }) => hash], request: ['integer', ({ request }) => request] },
  'position',
);

/** What differs where requests have several ids, of which the insertion must not take some alone. */
interface Form {
  readonly known: ConsumptionSql;
  readonly wholeSoFar: ConsumptionSql;
  readonly isWhole: Sql;
  readonly usedPositions: Sql;
}

/** Most requests have one id, and nothing to be looked up. */
const ONE_BY_ONE: Form = {
  known: sql``,
  wholeSoFar: sql``,
  isWhole: sql`true`,
  usedPositions: sql`NULL::integer[]`,
};

/**
 * `known` are those of the looked up ids that had been used when the statement began. A subquery goes by the primary key,
 * however large the planner thinks that the table is.
 *
 * Where another transaction uses one id of a pair between the lookup and the insertion, the other id must not stay: the
 * division by zero takes the whole statement back.
 */
const ALL_OR_NONE: Form = {
  known: sql`known AS (
    SELECT looked_up.request, looked_up.position::integer
    FROM ${LOOKED_UP}
    WHERE (SELECT true FROM token_exchange_used_jti WHERE jti_hash = looked_up.hash)
  ), `,
  wholeSoFar: sql`WHERE request <> ALL (ARRAY(SELECT request FROM known WHERE request IS NOT NULL))`,
  isWhole: sql`1 / (every(used.jti_hash IS NOT NULL) = bool_or(used.jti_hash IS NOT NULL))::integer`,
  usedPositions: sql`CASE WHEN asked.request = 0 THEN ARRAY(SELECT position FROM known) END`,
};

/**
 * The clauses that use up ids. They end in `verdict (request, is_accepted, is_whole, used_positions)`; the statement must
 * select `VERDICT`.
 * @rule 5.2.5 A jti is accepted once.
 * @rule D3 What a token uses up is used by one atomic statement, and a loser leaves nothing behind.
 *
 * `ON CONFLICT DO NOTHING` leaves out what was used before, and the primary key decides every race. Rows go in sorted by
 * hash, so that two statements cannot wait for each other. No two requests share an id; if they did, `DISTINCT ON` would
 * give it to the first.
 */
function consumption({ known, wholeSoFar, isWhole, usedPositions }: Form): ConsumptionSql {
  return sql`${known}asked AS (
    SELECT hash, exp, request FROM ${ASKED}
  ), first AS (
    SELECT DISTINCT ON (hash) hash, exp, request FROM asked ${wholeSoFar}
    ORDER BY hash, request
  ), used AS (
    INSERT INTO token_exchange_used_jti (jti_hash, expires_at) SELECT hash, to_timestamp(exp) FROM first
    ON CONFLICT DO NOTHING RETURNING jti_hash
  ), verdict AS (
    SELECT asked.request, every(used.jti_hash IS NOT NULL) AS is_accepted,
      ${isWhole} AS is_whole,
      ${usedPositions} AS used_positions
    FROM asked LEFT JOIN first USING (hash, request) LEFT JOIN used ON used.jti_hash = first.hash
    GROUP BY asked.request
  )`;
}

/** What a statement with the clauses selects for each request, in the order of the requests. */
export const VERDICT = sql`verdict.is_accepted AS "isAccepted", verdict.is_whole AS "isWhole",
    verdict.used_positions AS "usedPositions"`;

export interface Verdict {
  readonly isAccepted: boolean;
  /** In the first row of a statement that looks ids up: which of them had been used, by their positions, from 1. */
  readonly usedPositions: readonly number[] | null;
}

/**
 * Prepares a statement in both its forms.
 * @param statementWith writes the statement around the clauses, which follow its `WITH`
 * @returns the form that does for a consumption: that without lookups is the cheaper one
 */
export function preparedConsumption<Request, Row extends Verdict>(
  name: string,
  statementWith: (clauses: ConsumptionSql) => Sql<Consumption<Request>>,
): (consumption: Consumption<Request>) => PreparedStatement<Consumption<Request>, Row> {
  const prepare = (formName: string, form: Form) =>
    new PreparedStatement<Consumption<Request>, Row>(formName, statementWith(consumption(form)));
  const oneByOne = prepare(name, ONE_BY_ONE);
  const allOrNone = prepare(`${name}_whole`, ALL_OR_NONE);
  return ({ lookedUp }) => (lookedUp.length === 0 ? oneByOne : allOrNone);
}
