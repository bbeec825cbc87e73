// How the statements of a data source are limited: by the driver that TypeORM is given.
import type { PoolConfig } from 'pg';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { limitHolds, limitedConfig } from './driver-pool.js';
import type { ConnectionPool } from './pool.js';
import { DEFAULT_WAIT_MS } from './wait-limit.js';

/** How the statements of a data source are limited. */
export interface WaitLimits {
  /** How long a request waits in all, in milliseconds. */
  readonly waitMs: number;
  /** For jobs and followers, with limits of their own; undefined: they use the pool of requests. */
  readonly background?: ConnectionPool;
}

/** The `driver` of a data source whose statements are limited. */
export interface LimitedDriver {
  readonly limits: WaitLimits;
}

/** The driver pg, with a pool that limits how long a request waits for a connection, and how long it holds the connection. */
export function limitWaits(limits: WaitLimits): LimitedDriver {
  class Pool extends pg.Pool {
    constructor(config: PoolConfig) {
      super(limitedConfig(config, limits.waitMs));
      limitHolds(this, limits.waitMs);
    }
  }
  return { ...pg, Pool, limits } as LimitedDriver;
}

/** The limits of a data source, or those of the package if it has none. */
export function limitsOf({ options }: DataSource): WaitLimits {
  const { driver } = options as { driver?: Partial<LimitedDriver> };
  return driver?.limits ?? { waitMs: DEFAULT_WAIT_MS };
}
