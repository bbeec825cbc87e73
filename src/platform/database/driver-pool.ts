// The one place that reaches past TypeORM to the pool of the driver, which both share.
import type { ClientConfig, Pool } from 'pg';
import type { DataSource } from 'typeorm';

/** TypeORM's own types do not show it. */
export function driverPool({ driver }: DataSource): Pool {
  return (driver as unknown as { master: Pool }).master;
}

/** How the pool connects, for connections beside it. Holds a secret. */
export function connectionOf(dataSource: DataSource): ClientConfig {
  const { options } = driverPool(dataSource);
  // The pool hides its password from those who list its options, a copy of all others among them.
  return { ...options, password: options.password };
}

/** Figures of the connection pool for metrics. */
export interface PoolState {
  /** Most connections that there may be. */
  readonly most: number;
  /** Connections that there are. */
  readonly open: number;
  /** Those not in use. */
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
}

export function poolState(dataSource: DataSource): PoolState {
  const { options, totalCount, idleCount, waitingCount } = driverPool(dataSource);
  return { most: options.max ?? 0, open: totalCount, idle: idleCount, waiting: waitingCount };
}
