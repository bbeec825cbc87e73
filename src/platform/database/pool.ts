// The interface of a connection pool, and a driver for TypeORM whose pool limits how long requests wait. Its declarations
// do not use pg's types, because hosts that type-check our files may lack them.
import type { PoolConfig } from 'pg';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { limitedConfig, limitHolds } from './driver-pool.js';
import { DEFAULT_WAIT_MS } from './wait-limit.js';

/** A statement; prepared if it has a name. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

export interface Answer {
  readonly rows: unknown[];
  readonly rowCount: number | null;
}

/** A pool of the driver pg. */
export interface ConnectionPool {
  connect(): Promise<{
    query(statement: Statement): Promise<Answer>;
    /** A lost connection emits `error`, even during a statement. */
    on(event: 'error', listener: (error: Error) => void): unknown;
    off(event: 'error', listener: (error: Error) => void): unknown;
    /** @param destroy closes the connection */
    release(destroy?: boolean): void;
  }>;
}

/** Figures of a pool, for metrics. */
export interface PoolState {
  /** The largest number of connections. */
  readonly most: number;
  /** Open connections. */
  readonly open: number;
  /** Open connections that are not in use. */
  readonly idle: number;
  /** Requests that wait for a connection while none is idle. */
  readonly waiting: number;
}

/** The time limits of a data source's statements. */
export interface WaitLimits {
  /** How long a request waits in all, in milliseconds. */
  readonly waitMs: number;
  /** The pool of jobs and followers, with its own limits; undefined if they use the requests' pool. */
  readonly background?: ConnectionPool;
}

/** The `driver` option of a data source with limits. */
export interface LimitedDriver {
  readonly limits: WaitLimits;
}

/**
 * The driver pg with a limited pool: how long a request waits for a connection, and how long it may hold it.
 */
export function limitWaits(limits: WaitLimits): LimitedDriver {
  class Pool extends pg.Pool {
    constructor(config: PoolConfig) {
      super(limitedConfig(config, limits.waitMs));
      limitHolds(this, limits.waitMs);
    }
  }
  return { ...pg, Pool, limits } as LimitedDriver;
}

/** The limits of a data source; the defaults if it has none. */
export function limitsOf({ options }: DataSource): WaitLimits {
  const { driver } = options as { driver?: Partial<LimitedDriver> };
  return driver?.limits ?? { waitMs: DEFAULT_WAIT_MS };
}
