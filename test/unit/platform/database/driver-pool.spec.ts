// The options of connections outside the pool, and the figures for metrics.
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { connectionOf, poolState } from '../../../../src/platform/database/driver-pool.js';

/** As TypeORM holds it. */
const dataSourceOn = (pool: pg.Pool) => ({ driver: { master: pool } }) as unknown as DataSource;

it('a copy of the connection has the password, which the pool hides from listed options', () => {
  const options = { host: 'database.example', user: 'product', password: 'secret', database: 'product' };
  const pool = new pg.Pool(options);
  expect({ ...pool.options }).not.toHaveProperty('password');
  expect({ ...connectionOf(dataSourceOn(pool)) }).toMatchObject(options);
});

it.each([
  [0, 3, 3],
  [1, 1, 0],
  [1, 3, 2],
  [2, 1, 0],
])('[D91] with %i idle connections and %i queued requests, %i requests wait', (idle, queued, waiting) => {
  const pool = { options: { max: 4 }, totalCount: 4, idleCount: idle, waitingCount: queued };
  expect(poolState(dataSourceOn(pool as pg.Pool))).toEqual({ most: 4, open: 4, idle, waiting });
});
