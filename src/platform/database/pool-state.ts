// What metrics tell of the pool of connections to the database.
import type { DataSource } from 'typeorm';
import { driverPool } from './driver-pool.js';

export interface PoolState {
  /** Most connections that there may be. */
  readonly most: number;
  /** Connections that there are. */
  readonly open: number;
  /** Those of them that nobody uses. */
  readonly idle: number;
  /** Who waits for one. */
  readonly waiting: number;
}

export function poolState(dataSource: DataSource): PoolState {
  const { options, totalCount, idleCount, waitingCount } = driverPool(dataSource);
  return { most: options.max ?? 0, open: totalCount, idle: idleCount, waiting: waitingCount };
}
