// What connections beside the pool are told.
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { connectionOf } from '../../../../src/platform/database/driver-pool.js';

/** As TypeORM holds it. */
const dataSourceOn = (pool: pg.Pool) => ({ driver: { master: pool } }) as unknown as DataSource;

it('a copy of the connection has the password, which the pool hides from those who list its options', () => {
  const options = { host: 'database.example', user: 'product', password: 'secret', database: 'product' };
  const pool = new pg.Pool(options);
  expect({ ...pool.options }).not.toHaveProperty('password');
  expect({ ...connectionOf(dataSourceOn(pool)) }).toMatchObject(options);
});
