// The database as repositories use it: PostgreSQL, through the pool of TypeORM's data source and the
// additional pools. Concurrent requests can share a statement.
import type { DataSource } from 'typeorm';
import { DatabaseWaitError, isRowError, keepsConnection } from './database-error.js';
import { poolState, requestPool } from './driver-pool.js';
import type { Answer, ConnectionPool, PoolState, Statement } from './pool.js';
import { limitsOf } from './pool.js';
import type { PreparedStatement, SharedStatement } from './sql.js';
import { DEFAULT_WAIT_MS, MAX_WAITING } from './wait-limit.js';

/** An error listener that does nothing, because the running statement fails with the same error. */
const ignore = () => undefined;

/**
 * Runs statements on the connections of one pool, each outside the service's transactions. Its methods throw
 * the driver's errors.
 */
export class StatementPool {
  constructor(
    readonly dataSource: DataSource,
    private readonly pool: ConnectionPool,
  ) {}

  async run<Input, Row>(statement: PreparedStatement<Input, Row>, input: Input): Promise<Row[]> {
    return (await this.send(statement.of(input))).rows as Row[];
  }

  /** Runs a statement that is not prepared. */
  async query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.send({ text, values: [...values] })).rows as Row[];
  }

  /** Runs an UPDATE or DELETE that is not prepared. @returns the number of changed rows */
  async change(text: string, values: readonly unknown[] = []): Promise<number> {
    return (await this.send({ text, values: [...values] })).rowCount ?? 0;
  }

  /**
   * Connects and releases by itself, because the pool's `query` closes the connection after any error. Under
   * overload, all connections would be reopened. A pool listens only for errors of idle connections. Without a
   * listener, a connection that breaks during a statement would end the process.
   */
  private send(statement: Statement): Promise<Answer> {
    return logged(this.dataSource, statement, async () => {
      const client = await this.pool.connect();
      client.on('error', ignore);
      try {
        const answer = await client.query(statement);
        client.release();
        return answer;
      } catch (error) {
        client.release(!keepsConnection(error));
        throw error;
      } finally {
        client.off('error', ignore);
      }
    });
  }
}

/** Runs a statement that bypasses TypeORM, with TypeORM's log if the host has turned it on. */
export async function logged<Result>(
  { logger, options }: DataSource,
  { text, values }: Statement,
  run: () => Promise<Result>,
): Promise<Result> {
  const beganAtMs = performance.now();
  logger.logQuery(text, values);
  try {
    const result = await run();
    const tookMs = Math.round(performance.now() - beganAtMs);
    const { maxQueryExecutionTime: most = 0 } = options;
    if (most > 0 && tookMs > most) logger.logQuerySlow(tookMs, text, values);
    return result;
  } catch (error) {
    logger.logQueryError(error as Error, text, values);
    throw error;
  }
}

/**
 * Runs its own statements on the requests' pool. A host's data source keeps its pool, settings and search
 * path.
 */
export class Database extends StatementPool {
  /** How long a request waits for the database in all, in milliseconds. */
  readonly waitMs: number;
  /**
   * The pool for jobs and followers, with longer limits than requests have. A host without such a pool uses
   * the requests' pool.
   */
  readonly background: StatementPool;

  /** @throws Error if the data source is not for PostgreSQL */
  constructor(dataSource: DataSource, background = limitsOf(dataSource).background) {
    const { type } = dataSource.options;
    if (type !== 'postgres')
      throw new Error(`token exchange needs PostgreSQL, and the data source is of type "${type}"`);
    super(dataSource, requestPool(dataSource));
    this.waitMs = limitsOf(dataSource).waitMs;
    this.background = background === undefined ? this : new StatementPool(dataSource, background);
  }

  /** Lets concurrent requests share a statement. */
  share<Item, Row, Answer>(statement: SharedStatement<Item, Row, Answer>): Batch<Item, Answer> {
    const run = async (items: readonly Item[]) => statement.answers(await this.run(statement, items), items);
    return new Batch(run, this.waitMs);
  }

  /** Figures of the requests' pool. */
  get state(): PoolState {
    return poolState(this.dataSource);
  }
}

/**
 * Injection token of the operator page's own `StatementPool`, which has the limits of requests. Requests to
 * the page, for example with made-up cookies, take no connection from partners' requests, jobs or followers.
 */
export const OPERATOR_DATABASE = Symbol('OPERATOR_DATABASE');

/** Runs one statement. Resolves with one answer per item, in the order of the items. */
type BatchRun<Item, Answer> = (items: readonly Item[]) => Promise<readonly Answer[]>;

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  /** Arrival time on the monotonic clock, in milliseconds. */
  readonly sinceMs: number;
}

/**
 * Below this number of waiting items, only one statement runs at a time: two small statements cost more than
 * one large one. Another connection is used for more items, or if the latest statement has run for
 * HANGS_AFTER_MS.
 */
const WORTH_A_STATEMENT = 32;
const HANGS_AFTER_MS = 100;
const MAX_STATEMENTS = 4;
/** Bounds the parameters of one statement, and the time for which it delays the next. */
const MAX_ITEMS = 256;

/**
 * Lets concurrent requests share one statement. Collects items while a statement runs, and sends them as soon as
 * it returns. Each item gets its own answer. An item that arrives alone is sent alone, one turn of the event loop
 * later. The timer only serves items behind a statement that hangs.
 */
export class Batch<Item, Answer> {
  private waiting: Waiting<Item, Answer>[] = [];
  private statementsInFlight = 0;
  private latestSentAtMs = 0;
  private watch: NodeJS.Timeout | undefined;

  /**
   * @param waitMs how long an item may wait, in milliseconds; older items are not sent, because their
   * requests were answered
   */
  constructor(
    private readonly run: BatchRun<Item, Answer>,
    private readonly waitMs = DEFAULT_WAIT_MS,
  ) {}

  /**
   * Resolves with the item's own answer. @throws the error of its statement, or DatabaseWaitError if it was
   * never sent
   */
  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length >= MAX_WAITING) return reject(new DatabaseWaitError('pool_exhausted'));
      this.waiting.push({ item, resolve, reject, sinceMs: performance.now() });
      this.sendIfWorthIt();
    });
  }

  private sendIfWorthIt(): void {
    if (this.statementsInFlight === MAX_STATEMENTS) return;
    if (!this.isWorthAStatement()) return this.watchLatest();
    this.statementsInFlight += 1;
    this.latestSentAtMs = performance.now();
    this.gather();
  }

  /**
   * Waits as long as each turn of the event loop brings more items. Requests that one statement has answered,
   * or that one network event has woken, arrive here one by one.
   */
  private gather(before = 0): void {
    setImmediate(() => {
      const { length } = this.waiting;
      if (length > before && length < WORTH_A_STATEMENT) this.gather(length);
      else void this.send();
    });
  }

  private isWorthAStatement(): boolean {
    const { length } = this.waiting;
    if (this.statementsInFlight === 0 || length === 0) return length > 0;
    return length >= WORTH_A_STATEMENT || this.hangsInMs() <= 0;
  }

  /**
   * Sends waiting items on another connection once the latest statement hangs, even if no further item comes.
   */
  private watchLatest(): void {
    if (this.waiting.length === 0 || this.watch !== undefined) return;
    const look = () => {
      this.watch = undefined;
      this.sendIfWorthIt();
    };
    this.watch = setTimeout(look, Math.ceil(this.hangsInMs()));
    this.watch.unref();
  }

  private hangsInMs(): number {
    return this.latestSentAtMs + HANGS_AFTER_MS - performance.now();
  }

  private async send(): Promise<void> {
    this.giveUpOld();
    const taken = this.waiting.splice(0, MAX_ITEMS);
    if (taken.length > 0) await this.serve(taken);
    this.statementsInFlight -= 1;
    this.sendIfWorthIt();
  }

  /** Rejects the items that have waited too long. Items are in order of arrival. */
  private giveUpOld(): void {
    const oldestMs = performance.now() - this.waitMs;
    const firstInTime = this.waiting.findIndex(({ sinceMs }) => sinceMs >= oldestMs);
    const old = this.waiting.splice(0, firstInTime === -1 ? this.waiting.length : firstInTime);
    for (const { reject } of old) reject(new DatabaseWaitError('time_limit'));
  }

  /**
   * One bad row fails its whole statement, which then changes nothing. Each half is therefore tried again,
   * until the bad row is alone and its neighbours have their answers. Other failures (a lost connection, a
   * time limit) concern all items and may follow the commit, so nothing is tried again.
   */
  private async serve(taken: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.run(taken.map(({ item }) => item));
      for (const [index, { resolve }] of taken.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      if (taken.length === 1 || !isRowError(error)) return taken.forEach(({ reject }) => reject(error));
      const middle = Math.ceil(taken.length / 2);
      await this.serve(taken.slice(0, middle));
      await this.serve(taken.slice(middle));
    }
  }
}
