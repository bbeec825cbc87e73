// The database as repositories use it: PostgreSQL, through the pool of TypeORM's data source and the
// additional pools.
import type { DataSource } from 'typeorm';
import { Batch } from './batch.js';
import { keepsConnection } from './database-error.js';
import { poolState, requestPool } from './driver-pool.js';
import type { Answer, ConnectionPool, PoolState, Statement } from './pool.js';
import { limitsOf } from './pool.js';
import type { PreparedStatement, SharedStatement } from './sql.js';

/** The running statement fails with the same error. */
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
   * Releases the connection itself, because a pool's `query` closes it after any error, and a server at its
   * limits would have to reopen them all. A pool listens only for errors of idle connections. Without a
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
   * For jobs and followers, with longer limits than requests have. A host without such a pool uses the
   * requests' pool.
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
