// The database as repositories use it: PostgreSQL, by the pools of TypeORM's data source and those beside it.
import type { DataSource } from 'typeorm';
import { Batch } from './batch.js';
import { keepsConnection } from './database-error.js';
import { poolState, requestPool } from './driver-pool.js';
import { limitsOf } from './limited-driver.js';
import type { Answer, ConnectionPool, PoolState, Statement } from './pool.js';
import type { PreparedStatement, SharedStatement } from './prepared-statement.js';
import { StatementLog } from './query-log.js';

/** The statement that runs fails with the same error. */
const ignore = () => undefined;

/** Runs statements on the connections of one pool, each outside any transaction of the service. Its methods throw the driver's error. */
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
   * The `query` of a pool would close the connection after any error, and a server at its limits would have to open them all anew. A pool
   * listens for errors of idle connections only; without a listener, a connection that breaks during a statement would end the process.
   */
  private async send(statement: Statement): Promise<Answer> {
    const log = new StatementLog(this.dataSource, statement);
    let client: Awaited<ReturnType<ConnectionPool['connect']>> | undefined;
    let answer: Answer;
    try {
      client = await this.pool.connect();
      client.on('error', ignore);
      answer = await client.query(statement);
    } catch (error) {
      client?.release(!keepsConnection(error));
      client?.off('error', ignore);
      log.failed(error);
      throw error;
    }
    client.release();
    client.off('error', ignore);
    log.answered();
    return answer;
  }
}

/** Its own statements run on the pool of requests. A host's data source keeps its pool, its settings and its search path. */
export class Database extends StatementPool {
  /** How long a request waits for the database in all, in milliseconds. */
  readonly waitMs: number;
  /** For jobs and followers, with longer limits than requests have; at a host without such a pool, the pool of requests. */
  readonly background: StatementPool;

  /** @throws Error if the data source is not of PostgreSQL */
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

  /** Figures of the pool of requests. */
  get state(): PoolState {
    return poolState(this.dataSource);
  }
}

/**
 * Injection token of a `StatementPool` with the limits of requests. Requests to the operator's page, with made-up cookies for example,
 * take no connection from partners' requests, jobs or followers.
 */
export const OPERATOR_DATABASE = Symbol('OPERATOR_DATABASE');
