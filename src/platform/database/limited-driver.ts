// How the statements of a data source are limited: by the driver that TypeORM is given.
import type { PoolConfig } from 'pg';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { LimitedPool } from './limited-pool.js';
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

/** The `driver` of a data source whose statements are limited. A host that checks our types may have none of pg's. */
export interface LimitedDriver {
  readonly limits: WaitLimits;
}

/**
 * The driver pg, with a pool that limits how long a request waits for a connection and holds it, together. A connection whose time is
 * over is closed, so that a late answer is not taken for that to a later question. A commit that was not replicated as configured
 * fails: a server that takes over may lack it.
 */
export function limitWaits(limits: WaitLimits): LimitedDriver {
  class Pool extends LimitedPool {
    constructor(config: PoolConfig) {
      super(config, limits.waitMs);
    }
  }
  return { ...pg, Pool, limits } as LimitedDriver;
}

/** The limits of a data source, or those of the two flows if it has none. */
export function limitsOf({ options }: DataSource): WaitLimits {
  const { driver } = options as { driver?: Partial<LimitedDriver> };
  return driver?.limits ?? { waitMs: DEFAULT_WAIT_MS };
}
