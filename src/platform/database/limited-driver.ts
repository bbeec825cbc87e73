// The driver that TypeORM gets, which limits how long the statements of a data source may wait.
import type { PoolConfig } from 'pg';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { limitHolds, limitedConfig } from './driver-pool.js';
import type { ConnectionPool } from './pool.js';
import { DEFAULT_WAIT_MS } from './wait-limit.js';

/** The time limits of a data source's statements. */
export interface WaitLimits {
  /** How long a request waits in all, in milliseconds. */
  readonly waitMs: number;
  /** The pool of jobs and followers, with limits of its own; undefined: they use the requests' pool. */
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
