// The embedded database stays small and fast with many rows.
import type { EventEmitter } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import {
  EmbeddedMaintenanceJob,
  EmbeddedMaintenanceRepository,
} from '../../src/platform/jobs/embedded-maintenance.job.js';
import { AlwaysLeader } from '../../src/platform/jobs/leader.js';
import { createLogger } from '../../src/platform/log/logger.js';
import { USED_IDS } from '../../src/token-exchange/replay/used-id-purge.js';
import { TestDatabase } from '../support/databases.js';
import { purgeJobOn } from '../support/purges.js';
import { TestClock } from '../support/test-clock.js';

const LOGGER = createLogger('silent');
const ROUNDS = 6;
const STATEMENTS = 40;
const ROWS_A_STATEMENT = 200;
const MAX_LOG_BYTES = 5 * 2 ** 20;
const MAX_SEGMENTS = 3;
const POLL_INTERVAL_MS = 100;
const SOME_LOOKS_MS = 1_000;
const PATIENCE_MS = 60_000;

describe('the embedded database with continuous inserts and deletes', () => {
  const database = new TestDatabase('embedded');
  const clock = new TestClock();
  let dataSource: DataSource;
  let repository: EmbeddedMaintenanceRepository;
  let maintenance: EmbeddedMaintenanceJob;
  /** The size of the table after each round, in bytes. */
  let sizes: number[];

  beforeAll(async () => {
    await database.create();
    ({ dataSource } = await database.open());
    repository = new EmbeddedMaintenanceRepository(new Database(dataSource));
    maintenance = newMaintenance();
    await maintenance.onApplicationBootstrap();
    sizes = [];
    for (let round = 0; round < ROUNDS; round += 1) sizes.push(await sizeAfterRound());
  });
  afterAll(async () => {
    await maintenance.beforeApplicationShutdown();
    await database.remove();
  });

  const newMaintenance = () => new EmbeddedMaintenanceJob(repository, new AlwaysLeader(), LOGGER);

  async function sizeAfterRound(): Promise<number> {
    await fill();
    await purge();
    await until(async () => (await repository.due()).length === 0);
    const [table] = await dataSource.query<{ bytes: number }[]>(
      `SELECT pg_total_relation_size('token_exchange_used_jti')::int AS bytes`,
    );
    return table?.bytes ?? 0;
  }

  /** Also returns after a timeout. The test then checks the result. */
  async function until(isReached: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    do await pause(POLL_INTERVAL_MS);
    while (!(await isReached()) && Date.now() < deadline);
  }

  async function fill(): Promise<void> {
    for (let statement = 0; statement < STATEMENTS; statement += 1) {
      await dataSource.query(
        `INSERT INTO token_exchange_used_jti SELECT gen_random_uuid(), to_timestamp($1) FROM generate_series(1, $2::int)`,
        [clock.nowSeconds() - 7_200, ROWS_A_STATEMENT],
      );
      await pause(1);
    }
  }

  async function purge(): Promise<void> {
    await purgeJobOn(dataSource, { tables: USED_IDS }, clock).run();
  }

  /** The planner's estimate of the number of rows. */
  async function knownRows(): Promise<number> {
    const [table] = await dataSource.query<{ rows: number }[]>(
      `SELECT reltuples::int AS "rows" FROM pg_class WHERE relname = 'token_exchange_used_jti'`,
    );
    return table?.rows ?? 0;
  }

  /** The files of the log, of 16 MiB each. */
  function segments(): string[] {
    if (database.settings.kind !== 'embedded') throw new Error('there is no folder');
    const names = readdirSync(join(database.settings.directory, 'database', 'pg_wal'));
    return names.filter((name) => /^[0-9A-F]{24}$/.test(name));
  }

  it('keeps its size: the table never exceeds three times its initial size', () => {
    const [first, ...later] = sizes;
    for (const bytes of later) expect(bytes).toBeLessThan(3 * (first ?? 0));
  });

  it('keeps its log short', async () => {
    await until(async () => (await repository.logLength()) < MAX_LOG_BYTES);
    expect(await repository.logLength()).toBeLessThan(MAX_LOG_BYTES);
    expect(segments().length).toBeLessThanOrEqual(MAX_SEGMENTS);
  });

  it('reports the sizes of its tables', async () => {
    await dataSource.query(
      `INSERT INTO token_exchange_used_jti SELECT gen_random_uuid(), now() + interval '1 day' FROM generate_series(1, 3000)`,
    );
    await until(async () => (await knownRows()) >= 3_000);
    expect(await knownRows()).toBeGreaterThanOrEqual(3_000);
    expect(
      await dataSource.query(`SELECT attname FROM pg_stats WHERE tablename = 'token_exchange_used_jti'`),
    ).toHaveLength(3);
  });

  it('does no maintenance while it is unused', async () => {
    const { master } = dataSource.driver as unknown as { master: EventEmitter };
    let uses = 0;
    master.on('acquire', () => (uses += 1));
    const usesWithin = async (milliseconds: number) => {
      uses = 0;
      await pause(milliseconds);
      return uses;
    };
    // Waits for the maintenance after the earlier tests.
    await until(async () => (await usesWithin(SOME_LOOKS_MS)) === 0);
    expect(await usesWithin(SOME_LOOKS_MS)).toBe(0);
    await dataSource.query('SELECT 1');
    uses = 0;
    await until(() => Promise.resolve(uses > 0));
    expect(uses).toBeGreaterThan(0);
  });

  it('cleans up the rest of an earlier process at startup', async () => {
    await maintenance.beforeApplicationShutdown();
    await fill();
    await fill();
    await purge();
    const next = newMaintenance();
    await next.onApplicationBootstrap();
    await next.beforeApplicationShutdown();
    const [left] = await dataSource.query<{ dead: number }[]>(
      `SELECT pg_stat_get_dead_tuples('token_exchange_used_jti'::regclass)::int AS dead`,
    );
    expect(left?.dead).toBe(0);
  });
});
