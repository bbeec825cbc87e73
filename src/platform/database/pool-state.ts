// Figures of the connection pool for metrics.
import type { DataSource } from 'typeorm';
import { driverPool } from './driver-pool.js';

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
