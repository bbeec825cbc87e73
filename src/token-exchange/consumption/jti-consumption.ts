// Uses up the ids of many requests in one statement: who may share it, and what becomes of each.
import { hash as digest } from 'node:crypto';
import { Batch } from '../../platform/database/batch.js';
import { isDivisionByZero } from '../../platform/database/database-error.js';
import type { TokenUse } from '../host/settlements.js';
import { Rejection } from '../rejection.js';
import type { AskedId, Consumption, LookedUpId, Verdict } from './consumption-statement.js';
import type { Turn, Turns } from './jti-turns.js';
import { takeTurns, wantsOneOf } from './jti-turns.js';

/** Runs a statement for requests that share no id. @returns a row for each, in their order */
export type ConsumptionRun<Request, Row> = (consumption: Consumption<Request>) => Promise<readonly Row[]>;

interface Asker<Request> extends Turn {
  readonly request: Request;
  /** What is stored of its tokens. */
  readonly records: readonly Pick<AskedId, 'hash' | 'exp'>[];
}

/** How often a statement is run that loses a race each time; more of them in a row are no accident. */
const MAX_RUNS = 4;

/** Lets the requests of one moment share a statement. */
export class ConsumptionBatch<Request extends { readonly uses: readonly TokenUse[] }, Row extends Verdict> {
  private readonly batch: Batch<Asker<Request>, Row | 'replayed' | 'again'>;

  /**
   * @param waitMs see `Batch`
   * @param mostRequests of one statement
   */
  constructor(
    private readonly run: ConsumptionRun<Request, Row>,
    waitMs?: number,
    mostRequests?: number,
  ) {
    const serve = (askers: readonly Asker<Request>[]) => this.serve(askers);
    this.batch = new Batch(serve, waitMs, mostRequests);
  }

  /**
   * Uses up the ids of one request: all of them or none.
   * @rule D2 Once over all issuers and both flows.
   * @returns its row of the statement
   * @throws Rejection `token_replayed` when any of them was used before, or two of them are the same
   */
  async consume(request: Request): Promise<Row> {
    const records = request.uses.map(({ jti, exp }) => ({ hash: storedIdOf(jti), exp }));
    const ids = records.map(({ hash }) => hash.toString('hex'));
    if (new Set(ids).size < ids.length) throw new Rejection('token_replayed');
    let outcome = await this.batch.add({ request, records, ids, hasWaited: false });
    // Its neighbours have their answers and do not wait for it.
    while (outcome === 'again') outcome = await this.batch.add({ request, records, ids, hasWaited: true });
    if (outcome === 'replayed') throw new Rejection('token_replayed');
    return outcome;
  }

  private async serve(askers: readonly Asker<Request>[]): Promise<(Row | 'replayed' | 'again')[]> {
    const turns = takeTurns(askers);
    const consumption = consumptionOf(turns);
    const rows = await this.ask(consumption);
    if (rows === undefined) return askers.map((asker) => (asker === turns.asking[0] ? 'replayed' : 'again'));
    const used = usedIds(turns.asking, rows, consumption);
    const rowOf = new Map(turns.asking.map((asker, index) => [asker, rows[index]]));
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
  private async ask(consumption: Consumption<Request>, runs = MAX_RUNS): Promise<readonly Row[] | undefined> {
    try {
      return await this.run(consumption);
    } catch (error) {
      if (!isDivisionByZero(error)) throw error;
      if (consumption.requests.length === 1) return undefined;
      if (runs === 1) throw error;
      return this.ask(consumption, runs - 1);
    }
  }
}

/** An id as it is stored: as SHA-256, so that length and characters do not matter. */
export function storedIdOf(jti: string): Buffer {
  return digest('sha256', jti, 'buffer');
}

function consumptionOf<Request>(turns: Turns<Asker<Request>>): Consumption<Request> {
  return {
    requests: turns.asking.map(({ request }) => request),
    asked: turns.asking.flatMap(({ records }, request) =>
      records.map(({ hash, exp }) => ({ hash, exp, request })),
    ),
    lookedUp: idsToLookUp(turns),
  };
}

/** Those of pairs, of which one may have been used, and those of requests that wait for one. */
function idsToLookUp({ asking, waiting }: Turns<Asker<unknown>>): LookedUpId[] {
  const pairs = [...asking.entries()].filter(([, { ids }]) => ids.length > 1);
  return [
    ...pairs.flatMap(([index, asker]) => lookupsOf(asker, index)),
    ...waiting.flatMap((asker) => lookupsOf(asker, null)),
  ];
}

function lookupsOf({ ids, records }: Asker<unknown>, request: number | null): LookedUpId[] {
  return records.map(({ hash }, index) => ({ id: ids[index] ?? '', hash, request }));
}

/** The ids that are known to be used now, by the statement or before it. */
function usedIds(
  asking: readonly Turn[],
  rows: readonly Verdict[],
  { lookedUp }: Consumption<unknown>,
): Set<string> {
  const found = (rows[0]?.usedPositions ?? []).map((position) => lookedUp[position - 1]?.id ?? '');
  const used = new Set(found);
  for (const [index, asker] of asking.entries()) {
    // Refused, and nothing was found: others have used all of its ids since.
    if (rows[index]?.isAccepted === true || !wantsOneOf(asker, used)) asker.ids.forEach((id) => used.add(id));
  }
  return used;
}
