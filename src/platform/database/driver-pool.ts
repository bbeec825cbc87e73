// The driver's pool, which statements that bypass TypeORM share, and how long a request waits for it. Only this file uses
// pg's types: hosts without them can still type-check pool.ts, which they import.
import type { ClientBase, ClientConfig, DatabaseError, Pool, PoolClient, PoolConfig } from 'pg';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { DatabaseWaitError } from './database-error.js';
import { afterWaiting } from './wait-limit.js';

/** The pool that TypeORM has created for requests. */
export function requestPool({ driver }: DataSource): Pool {
  return (driver as PostgresDriver).master as Pool;
}

/** How to open a connection outside the pool. Contains a secret. */
export interface ConnectionBeside extends ClientConfig {
  /** Sets up the session of a new connection, as the pool does. */
  readonly onConnect?: (client: ClientBase) => void | Promise<void>;
}

/** How the pool connects, for connections outside it. */
export function connectionOf(dataSource: DataSource): ConnectionBeside {
  const { options } = requestPool(dataSource);
  // The pool hides its password from copies of its options.
  return { ...options, password: options.password };
}

/** Figures of the requests' pool. */
export function poolState(dataSource: DataSource) {
  const { options, totalCount, idleCount, waitingCount } = requestPool(dataSource);
  // The driver queues every request, even one that gets an idle connection at the end of this turn.
  const waiting = Math.max(0, waitingCount - idleCount);
  return { most: options.max ?? 0, open: totalCount, idle: idleCount, waiting };
}

/**
 * Closes a connection that a request holds for longer than it may wait: a late answer would delay the next
 * request. A running statement fails at once.
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

/** A function name in PostgreSQL's source, so it is the same in every language. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

/**
 * Fails a commit that was not replicated as configured, because the standby that takes over may lack it.
 * PostgreSQL only sends a notice if a commit stops waiting for its standby. The client therefore never
 * cancels a statement.
 */
export class ReplicatedClient extends pg.Client {
  private isInDoubt = false;

  constructor(config?: ClientConfig) {
    super(config);
    // A lost connection fails the running statement. Without a listener it would end the process.
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

/** Creates a pool with the same limits as the requests' pool. */
export function limitedPool(config: PoolConfig, waitMs: number): pg.Pool {
  const pool = new pg.Pool(limitedConfig(config, waitMs));
  limitHolds(pool, waitMs);
  return pool;
}

export function limitedConfig(config: PoolConfig, waitMs: number): PoolConfig {
  return { ...config, connectionTimeoutMillis: waitMs, Client: ReplicatedClient };
}
