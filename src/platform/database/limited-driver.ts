// How the statements of a data source are limited: by the driver that TypeORM is given.
import type { PoolConfig } from 'pg';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { LimitedPool } from './driver-pool.js';
import { DEFAULT_WAIT_MS } from './wait-limit.js';

/** The pool for background work, without the limits of requests. */
export interface BackgroundPool {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

/** How the statements of a data source are limited. */
export interface WaitLimits {
  /** How long a request waits in all, in milliseconds. */
  readonly waitMs: number;
  /** For jobs and followers, with limits of their own; undefined: they use the pool of requests. */
  readonly background?: BackgroundPool;
}

/** The `driver` of a data source whose statements are limited. */
export interface LimitedDriver {
  readonly limits: WaitLimits;
}

/** The driver pg, with `LimitedPool` as its pool. */
export function limitWaits(limits: WaitLimits): LimitedDriver {
  class Pool extends LimitedPool {
    constructor(config: PoolConfig) {
      super(config, limits.waitMs);
    }
  }
  return { ...pg, Pool, limits } as LimitedDriver;
}

/** The limits of a data source, or those of the package if it has none. */
export function limitsOf({ options }: DataSource): WaitLimits {
  const { driver } = options as { driver?: Partial<LimitedDriver> };
  return driver?.limits ?? { waitMs: DEFAULT_WAIT_MS };
}
