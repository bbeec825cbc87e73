// A connection that breaks while a statement runs fails this statement, and the process goes on.
import { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import { unavailabilityOf } from '../../src/platform/database/database-error.js';
import { limitWaits } from '../../src/platform/database/pool.js';
import { preparePostgresql } from '../../src/platform/database/postgresql-pools.js';
import type { PreparedDatabase, ServingSettings } from '../../src/platform/database/prepared-database.js';
import { describeOnPostgresql } from '../support/databases.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

/** Only a hang reaches it. */
const HANG_MS = 60_000;
const LONG = 'SELECT pg_sleep(600) AS lost';
const RUNNING = `SELECT pid FROM pg_stat_activity WHERE query = $1 AND state = 'active' AND datname = current_database()`;
const SCHEMA = { entities: [], migrations: [] };

describeOnPostgresql('[D49] a connection that breaks while a statement runs', (database) => {
  let direct: DataSource;
  let proxy: TcpProxy;

  beforeAll(async () => {
    const url = database.environment['SVC_DATABASE_URL'] ?? '';
    direct = await new DataSource({ type: 'postgres', url }).initialize();
    proxy = await TcpProxy.open(url);
  });
  afterAll(async () => {
    await proxy?.close();
    await direct?.destroy();
  });

  /** PostgreSQL does not notice that the client of a sleeping statement has gone. */
  afterEach(async () => {
    await direct.query(`SELECT pg_terminate_backend(pid) FROM (${RUNNING}) AS running`, [LONG]);
    await until('the statement has ended', HANG_MS, async () => !(await isRunning()));
  });

  const isRunning = async () => (await direct.query<unknown[]>(RUNNING, [LONG])).length > 0;
  const ofService = (settings: ServingSettings) =>
    preparePostgresql({ url: proxy.url, poolSize: 1, ...settings }, SCHEMA);
  const ofHost = (driver?: object) => {
    const dataSource = new DataSource({ type: 'postgres', url: proxy.url, driver });
    return { dataSource, close: () => dataSource.destroy() };
  };

  it.each<[string, () => Pick<PreparedDatabase, 'dataSource' | 'close'>]>([
    ['a job', () => ofService({ requestWaitMs: HANG_MS })],
    ['a command', () => ofService({})],
    ["a host's data source", () => ofHost()],
    ["a host's data source with limits", () => ofHost(limitWaits({ waitMs: HANG_MS }))],
  ])('fails the statement of %s, and the next one succeeds', async (_, create) => {
    const { dataSource, close } = create();
    await dataSource.initialize();
    const asked = new Database(dataSource).background;
    const failure = asked.query(LONG).catch((error: unknown) => error);
    await until('the statement runs', HANG_MS, isRunning);
    proxy.cut();
    expect(unavailabilityOf(await failure)).toBe('connection_lost');
    expect(await asked.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await close();
  });
});
