// How long a request waits for a connection of the pool and holds it, by TypeORM and past it.
import { setTimeout as pause } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import { unavailabilityOf } from '../../src/platform/database/database-error.js';
import { limitedPool, requestPool } from '../../src/platform/database/driver-pool.js';
import { limitWaits } from '../../src/platform/database/pool.js';
import { prepareSession, whenConnected } from '../../src/platform/database/prepared-database.js';
import { PreparedStatement, sql } from '../../src/platform/database/sql.js';
import { runIn, Transactions } from '../../src/platform/database/transaction.js';
import { describeOnPostgresql } from '../support/databases.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const WAIT_MS = 500;
const LONG = 'SELECT pg_sleep(120)';
/** Much less than that, also on a machine on which WAIT_MS last longer. */
const MAX_MS = 60_000;

describeOnPostgresql('[D49] a pool of one connection', (database) => {
  let url: string;
  let dataSource: DataSource;

  beforeAll(async () => {
    const driver = limitWaits({ waitMs: WAIT_MS });
    url = database.environment['SVC_DATABASE_URL'] ?? '';
    dataSource = await new DataSource({ type: 'postgres', url, poolSize: 1, driver }).initialize();
  });
  afterAll(() => dataSource?.destroy());

  const whyOf = async (work: Promise<unknown>) => {
    const beganAtMs = performance.now();
    const error = await work.catch((failure: unknown) => failure);
    expect(performance.now() - beganAtMs).toBeLessThan(MAX_MS);
    return unavailabilityOf(error);
  };
  /** A busy machine may take longer than WAIT_MS for a new connection. */
  const served = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    let answer: Answer;
    await until('the pool serves', MAX_MS, async () => {
      try {
        answer = await ask();
        return true;
      } catch (error) {
        if (unavailabilityOf(error) === undefined) throw error;
        return false;
      }
    });
    return answer!;
  };
  const backend = async () =>
    (await served(() => dataSource.query('SELECT pg_backend_pid() AS pid')))[0].pid as number;

  it.each([
    ['TypeORM', () => dataSource.query(LONG)],
    ['the pool', () => new Database(dataSource).query(LONG)],
    [
      'a connection',
      async () => {
        const client = await requestPool(dataSource).connect();
        await client.query(LONG).finally(() => client.release());
      },
    ],
  ])('closes the connection of a statement of %s that takes too long, and continues', async (_, ask) => {
    const before = await backend();
    expect(await whyOf(ask())).toBe('connection_lost');
    expect(await backend()).not.toBe(before);
  });

  it('refuses requests that wait too long for it', async () => {
    const runner = dataSource.createQueryRunner();
    await runner.connect();
    expect(await whyOf(dataSource.query('SELECT 1'))).toBe('pool_exhausted');
    await runner.release();
  });

  it.each([
    ['a row at fault', 'SELECT 1 / 0'],
    ['a statement that the server has ended', LONG],
  ])('keeps the connection after %s', async (_, text) => {
    const before = await backend();
    await dataSource.query('SET statement_timeout = 50');
    await expect(new Database(dataSource).query(text)).rejects.toThrow();
    await dataSource.query('RESET statement_timeout');
    expect(await backend()).toBe(before);
  });

  it('replaces one that hangs while it is prepared', async () => {
    const proxy = await TcpProxy.open(url);
    let hangs = true;
    const prepared = whenConnected(async (client) => {
      if (hangs) proxy.silence();
      await prepareSession(client, {}, WAIT_MS);
    });
    const pool = limitedPool({ connectionString: proxy.url, max: 1, ...prepared }, WAIT_MS);
    expect(await whyOf(pool.query('SELECT 1'))).toBe('time_limit');
    hangs = false;
    proxy.resume();
    expect((await served(() => pool.query('SELECT 1 AS one'))).rows).toEqual([{ one: 1 }]);
    await pool.end();
    await proxy.close();
  });

  it('[D98] fails a commit that PostgreSQL reports as not replicated', async () => {
    const client = await requestPool(dataSource).connect();
    client.emit('notice', { routine: 'SyncRepWaitForLSN' });
    expect(await whyOf(client.query('COMMIT'))).toBe('not_replicated');
    client.release();
  });

  it('sends nothing for a transaction that has ended', async () => {
    const database = new Database(dataSource);
    const after = await new Transactions(database).run((transaction) => Promise.resolve({ transaction }));
    const statement = new PreparedStatement<void, object>('too_late', sql<void>`SELECT 1`);
    expect(await whyOf(runIn(after.transaction, statement, undefined))).toBe('connection_lost');
  });

  it('keeps one that was returned in time', async () => {
    const before = await backend();
    await pause(2 * WAIT_MS);
    expect(await backend()).toBe(before);
  });
});
