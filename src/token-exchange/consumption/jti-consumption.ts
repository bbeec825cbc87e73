// Uses up the ids of many requests in one statement, each request's all or none.
import { hash as digest } from 'node:crypto';
import { Batch } from '../../database/batch.js';
import { isDivisionByZero } from '../../database/database-error.js';
import type { TokenUse } from '../host.js';
import { Rejection } from '../rejection.js';
import type { Turn, Turns } from './jti-turns.js';
import { takeTurns, wantsOneOf } from './jti-turns.js';

/** Names two parameters of a statement: the ids that it looks up first, and the requests that they belong to. */
export type LookupParameters = readonly [hashes: string, requests: string];

/**
 * The clauses that use up the ids of requests that share none. They find in `$1` to `$3` what `ConsumptionBatch` hands over,
 * and end in `verdict (request, is_accepted, is_whole, used_places)`; the statement must select `VERDICT`.
 *
 * `ON CONFLICT DO NOTHING` leaves out what was used before, and the primary key decides every race. Rows go in sorted by
 * hash, so that two statements cannot wait for each other. No two requests share an id; if they did, `DISTINCT ON` would
 * give it to the first.
 * @param lookup makes the clauses fit for requests with several ids, of which the insertion must not take some alone
 */
export function consumption(lookup?: LookupParameters): string {
  return `${lookup === undefined ? '' : known(lookup)} asked AS (
    SELECT * FROM unnest($1::bytea[], $2::float8[], $3::integer[]) AS asked (hash, exp, request)
  ), first AS (
    SELECT DISTINCT ON (hash) hash, exp, request FROM asked ${lookup === undefined ? '' : WHOLE_SO_FAR}
    ORDER BY hash, request
  ), used AS (
    INSERT INTO used_jti (jti_hash, expires_at) SELECT hash, to_timestamp(exp) FROM first
    ON CONFLICT DO NOTHING RETURNING jti_hash
  ), verdict AS (
    SELECT asked.request, every(used.jti_hash IS NOT NULL) AS is_accepted,
      ${lookup === undefined ? 'true AS is_whole, NULL::integer[] AS used_places' : ALL_OR_NONE}
    FROM asked LEFT JOIN first USING (hash, request) LEFT JOIN used ON used.jti_hash = first.hash
    GROUP BY asked.request
  )`;
}

/**
 * Those of the looked up ids that had been used when the statement began. A subquery goes by the primary key, however large
 * the planner thinks that the table is.
 */
function known([hashes, requests]: LookupParameters): string {
  return `known AS (
    SELECT looked_up.request, looked_up.place::integer
    FROM unnest(${hashes}::bytea[], ${requests}::integer[]) WITH ORDINALITY AS looked_up (hash, request, place)
    WHERE (SELECT true FROM used_jti WHERE jti_hash = looked_up.hash)
  ),`;
}

const WHOLE_SO_FAR = 'WHERE request <> ALL (ARRAY(SELECT request FROM known WHERE request IS NOT NULL))';

/**
 * Where another transaction uses one id of a pair between the lookup and the insertion, the other id must not stay: the
 * division by zero takes the whole statement back.
 */
const ALL_OR_NONE = `1 / (every(used.jti_hash IS NOT NULL) = bool_or(used.jti_hash IS NOT NULL))::integer AS is_whole,
      CASE WHEN asked.request = 0 THEN ARRAY(SELECT place FROM known) END AS used_places`;

/** What a statement with `consumption` selects for each request, in the order of the requests. */
export const VERDICT = `verdict.is_accepted AS "isAccepted", verdict.is_whole AS "isWhole",
    verdict.used_places AS "usedPlaces"`;

export interface Verdict {
  readonly isAccepted: boolean;
  /** In the first row of a statement that looks ids up: which of them had been used, by their places from 1. */
  readonly usedPlaces: readonly number[] | null;
}

/** The parameters of `consumption`. */
export interface ConsumptionValues {
  /** `$1` to `$3`. */
  readonly asked: readonly unknown[];
  /** Those that `LookupParameters` name; undefined where each request has one id and nobody waits. */
  readonly lookedUp?: readonly unknown[];
}

/** Runs a statement with `consumption` for requests that share no id. */
export type ConsumptionRun<Request, Row> = (
  requests: readonly Request[],
  values: ConsumptionValues,
) => Promise<readonly Row[]>;

interface Asker<Request> extends Turn {
  readonly request: Request;
  /** What is stored of its ids. */
  readonly hashes: readonly Buffer[];
}

/** An id that the statement looks up; of a request that does not ask it has no place. */
interface LookedUp {
  readonly id: string;
  readonly hash: Buffer;
  readonly place: number | null;
}

/** How often a statement is run that loses a race each time; more of them in a row are no accident. */
const MAX_RUNS = 4;

/** Lets the requests of one moment share a statement. */
export class ConsumptionBatch<Request extends { readonly uses: readonly TokenUse[] }, Row extends Verdict> {
  private readonly batch = new Batch((askers: readonly Asker<Request>[]) => this.serve(askers));

  constructor(private readonly run: ConsumptionRun<Request, Row>) {}

  /**
   * Uses up the ids of one request: all of them or none.
   * @returns its row of the statement
   * @throws Rejection `token_replayed` when any of them was used before, or two of them are the same
   */
  async consume(request: Request): Promise<Row> {
    const hashes = request.uses.map(({ jti }) => digest('sha256', jti, 'buffer'));
    const ids = hashes.map((hash) => hash.toString('hex'));
    if (new Set(ids).size < ids.length) throw new Rejection('token_replayed');
    let outcome = await this.batch.add({ request, hashes, ids, hasWaited: false });
    // Its neighbours have their answers and do not wait for it.
    while (outcome === 'again') outcome = await this.batch.add({ request, hashes, ids, hasWaited: true });
    if (outcome === 'replayed') throw new Rejection('token_replayed');
    return outcome;
  }

  private async serve(askers: readonly Asker<Request>[]): Promise<(Row | 'replayed' | 'again')[]> {
    const turns = takeTurns(askers);
    const lookedUp = idsToLookUp(turns);
    const rows = await this.ask(turns.asking, lookedUp);
    if (rows === undefined) return askers.map((asker) => (asker === turns.asking[0] ? 'replayed' : 'again'));
    const used = usedIds(turns.asking, rows, lookedUp);
    const rowOf = new Map(turns.asking.map((asker, place) => [asker, rows[place]]));
    return askers.map((asker) => {
      const row = rowOf.get(asker);
      if (row?.isAccepted === true) return row;
      return row !== undefined || wantsOneOf(asker, used) ? 'replayed' : 'again';
    });
  }

  /**
   * A race lost to another transaction fails the statement, which has left nothing behind then: it is run again as it was,
   * and sees what the other one has committed. After several lost races in a row the batch asks for fewer (SQLSTATE class 22).
   * @returns undefined where one request asks: a lost race is its answer, because one of its ids is used now
   */
  private async ask(
    asking: readonly Asker<Request>[],
    lookedUp: readonly LookedUp[],
    runs = MAX_RUNS,
  ): Promise<readonly Row[] | undefined> {
    const requests = asking.map(({ request }) => request);
    try {
      return await this.run(requests, consumptionValues(asking, lookedUp));
    } catch (error) {
      if (!isDivisionByZero(error)) throw error;
      if (asking.length === 1) return undefined;
      if (runs === 1) throw error;
      return this.ask(asking, lookedUp, runs - 1);
    }
  }
}

/** Those of pairs, of which one may have been used, and those of requests that wait for one. */
function idsToLookUp<Request>({ asking, waiting }: Turns<Asker<Request>>): LookedUp[] {
  const pairs = [...asking.entries()].filter(([, { ids }]) => ids.length > 1);
  return [
    ...pairs.flatMap(([place, asker]) => lookupsOf(asker, place)),
    ...waiting.flatMap((asker) => lookupsOf(asker, null)),
  ];
}

function lookupsOf({ ids, hashes }: Asker<unknown>, place: number | null): LookedUp[] {
  return hashes.map((hash, index) => ({ id: ids[index] ?? '', hash, place }));
}

/** A statement that looks nothing up is the cheaper one, and most are. */
function consumptionValues(
  asking: readonly Asker<{ uses: readonly TokenUse[] }>[],
  lookedUp: readonly LookedUp[],
): ConsumptionValues {
  const asked = [
    asking.flatMap(({ hashes }) => hashes),
    asking.flatMap(({ request }) => request.uses.map(({ exp }) => exp)),
    asking.flatMap(({ hashes }, place) => hashes.map(() => place)),
  ];
  if (lookedUp.length === 0) return { asked };
  return { asked, lookedUp: [lookedUp.map(({ hash }) => hash), lookedUp.map(({ place }) => place)] };
}

/** The ids that are known to be used now, by the statement or before it. */
function usedIds(
  asking: readonly Turn[],
  rows: readonly Verdict[],
  lookedUp: readonly LookedUp[],
): Set<string> {
  const found = (rows[0]?.usedPlaces ?? []).map((place) => lookedUp[place - 1]?.id ?? '');
  const used = new Set(found);
  for (const [place, asker] of asking.entries()) {
    // Refused, and nothing was found: others have used all of its ids since.
    if (rows[place]?.isAccepted === true || !wantsOneOf(asker, used)) asker.ids.forEach((id) => used.add(id));
  }
  return used;
}
