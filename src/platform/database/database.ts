// The host's database, as the repositories of this package use it: PostgreSQL, by TypeORM's data source.
import type { DataSource } from 'typeorm';
import { ask, driverPool } from './driver-pool.js';
import { limitsOf } from './limited-driver.js';
import { logged } from './query-log.js';

/** Statements go to the host's own data source, with its pool, its settings and its search path. */
export class Database {
  /**
   * @param pool where `query` and `change` ask; undefined: where requests do
   * @throws Error where the data source is of another database than PostgreSQL
   */
  constructor(
    readonly dataSource: DataSource,
    private readonly pool = () => limitsOf(dataSource).background,
  ) {
    const { type } = dataSource.options;
    if (type === 'postgres') return;
    throw new Error(`token exchange needs PostgreSQL, and the data source is of type "${type}"`);
  }

  /** How long a request waits in all, in milliseconds. */
  get waitMs(): number {
    return limitsOf(this.dataSource).waitMs;
  }

  /**
   * Runs one statement that answers rows, outside any transaction of the service, for no request: the limits are those of work in the
   * background. @throws the driver's error
   */
  async query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.ask(text, values)).rows as Row[];
  }

  /** The same with an UPDATE or DELETE. @returns how many rows it changed @throws the driver's error */
  async change(text: string, values: readonly unknown[] = []): Promise<number> {
    return (await this.ask(text, values)).rowCount ?? 0;
  }

  private ask(text: string, given: readonly unknown[]) {
    const values = [...given];
    const pool = this.pool() ?? driverPool(this.dataSource);
    return logged(this.dataSource, { text, values }, () => ask(pool, { text, values }));
  }
}

/**
 * Injection token of a `Database` with the limits of requests. Requests to the operator's page, with made-up cookies for example, take
 * no connection from partners' requests, jobs or followers.
 */
export const OPERATOR_DATABASE = Symbol('OPERATOR_DATABASE');
