// The pool of the driver, which statements past TypeORM share with it, and how long a request waits for it. Its types are pg's: hosts
// that check ours may have none of these, and reach limited-driver.ts alone.
import type { ClientBase, ClientConfig, DatabaseError, Pool, PoolClient, PoolConfig } from 'pg';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { DatabaseWaitError } from './database-error.js';
import type { PoolState } from './pool.js';
import { afterWaiting } from './wait-limit.js';

/** The pool that TypeORM has made for requests. */
export function requestPool({ driver }: DataSource): Pool {
  return (driver as PostgresDriver).master as Pool;
}

/** How a connection beside the pool is made. Holds a secret. */
export interface ConnectionBeside extends ClientConfig {
  /** Sets up the session of a new connection, as the pool does. */
  readonly onConnect?: (client: ClientBase) => void | Promise<void>;
}

/** How the pool connects, for connections beside it. */
export function connectionOf(dataSource: DataSource): ConnectionBeside {
  const { options } = requestPool(dataSource);
  // The pool hides its password from those who list its options, a copy of all others among them.
  return { ...options, password: options.password };
}

export function poolState(dataSource: DataSource): PoolState {
  const { options, totalCount, idleCount, waitingCount } = requestPool(dataSource);
  // The driver queues each request, also one that gets an idle connection as soon as this turn ends.
  const waiting = Math.max(0, waitingCount - idleCount);
  return { most: options.max ?? 0, open: totalCount, idle: idleCount, waiting };
}

/**
 * Closes a connection that a request holds for longer than it may wait, by whichever way it asks: a late answer would hold up the next
 * request. While a statement is under way this closes at once, and the statement fails.
 */
export function limitHolds(pool: Pool, waitMs: number): void {
  const calledOff = new WeakMap<PoolClient, () => void>();
  pool.on('acquire', (client) => {
    calledOff.set(
      client,
      afterWaiting(waitMs, () => void client.end()),
    );
  });
  pool.on('release', (_error, client) => calledOff.get(client)?.());
}

/** In PostgreSQL's source, and so the same in every language. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

/**
 * Fails a commit that was not replicated as configured: a server that takes over may lack it. PostgreSQL only warns of a commit that has
 * stopped waiting for its standby, so no statement is ever cancelled by the client.
 */
export class ReplicatedClient extends pg.Client {
  private isInDoubt = false;

  constructor(config?: ClientConfig) {
    super(config);
    // A lost connection fails the statement that runs; without a listener it would end the process.
    this.on('error', () => undefined);
    this.on('notice', ({ routine }: Pick<DatabaseError, 'routine'>) => {
      if (routine === WAIT_FOR_STANDBY) this.isInDoubt = true;
    });
    const send = this.query.bind(this) as (...question: unknown[]) => unknown;
    const checked = (...question: unknown[]) => {
      const answer = send(...question);
      return answer instanceof Promise ? answer.then((value: unknown) => this.replicated(value)) : answer;
    };
    this.query = checked as typeof this.query;
  }

  private replicated<Value>(value: Value): Value {
    if (!this.isInDoubt) return value;
    this.isInDoubt = false;
    throw new DatabaseWaitError('not_replicated');
  }
}

/** A pool with the limits of a data source's own, beside it. */
export function limitedPool(config: PoolConfig, waitMs: number): pg.Pool {
  const pool = new pg.Pool(limitedConfig(config, waitMs));
  limitHolds(pool, waitMs);
  return pool;
}

export function limitedConfig(config: PoolConfig, waitMs: number): PoolConfig {
  return { ...config, connectionTimeoutMillis: waitMs, Client: ReplicatedClient };
}
