// The shared request counts: one limit for all instances, few queries, and no refusals while the database is unavailable.
import type { DataSource } from 'typeorm';
import { SCHEMA } from '../../src/instance/schema.js';
import { Clock } from '../../src/platform/clock.js';
import { openDatabase } from '../../src/platform/database/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { DatabaseCounts, THROTTLE_PURGE } from '../../src/platform/http/throttle/database-counts.js';
import { NO_LIMIT } from '../../src/platform/http/throttle/rate-limit.js';
import { createLogger } from '../../src/platform/log/logger.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { purgeJobOn } from '../support/purges.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { TestClock } from '../support/test-clock.js';

const MINUTE_MS = 60_000;
const LIMIT = 20;

/** One instance's storage, with its log lines and notifications. */
class Instance {
  readonly clock = new TestClock();
  readonly logLines: string[] = [];
  failedOpen = 0;
  private readonly storage: DatabaseCounts;

  constructor(dataSource: DataSource) {
    const logger = createLogger('warn', { write: (line) => void this.logLines.push(line) });
    const onFailOpen = () => void (this.failedOpen += 1);
    this.storage = new DatabaseCounts(new Database(dataSource), this.clock, logger, onFailOpen);
  }

  hit(key: string, durationMs = MINUTE_MS, limit = LIMIT) {
    return this.storage.increment(key, durationMs, limit);
  }

  refund(key: string, ageMs = 0) {
    return this.storage.refund(key, MINUTE_MS, ageMs);
  }

  async hitTimes(times: number, key: string) {
    const verdicts = [];
    for (let count = 0; count < times; count++) verdicts.push(await this.hit(key));
    return verdicts;
  }
}

describeOnEachDatabase('[D19] the shared throttle store', (database) => {
  let dataSource: DataSource;
  beforeAll(async () => {
    ({ dataSource } = await database.open());
  });

  const countQueries = async (key: string) => {
    const rows = await dataSource.query('SELECT hits FROM throttle_counter WHERE key = $1', [key]);
    return rows[0]?.hits;
  };

  it('[D19] allows exactly the limit of 100 simultaneous requests at two instances', async () => {
    const instances = [new Instance(dataSource), new Instance(dataSource)];
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, () => instances.map((instance) => instance.hit('crowd'))).flat(),
    );
    expect(verdicts.filter(({ isBlocked }) => !isBlocked)).toHaveLength(LIMIT);
  });

  it('[D19] refuses from memory without a query for one second', async () => {
    const instance = new Instance(dataSource);
    await instance.hitTimes(21, 'flood');
    await dataSource.query(`UPDATE throttle_counter SET hits = 0 WHERE key = 'flood'`);
    const verdicts = await instance.hitTimes(500, 'flood');
    expect(verdicts.filter(({ isBlocked }) => !isBlocked)).toEqual([]);
    expect(verdicts.at(-1)?.timeToBlockExpire).toBeGreaterThan(30);
    instance.clock.advance(1);
    expect(await instance.hit('flood')).toMatchObject({ totalHits: 1, isBlocked: false });
  });

  it("[D19] starts a new window when the old one has ended on the database's clock", async () => {
    const instance = new Instance(dataSource);
    await instance.hitTimes(21, 'ended');
    await dataSource.query(`UPDATE throttle_counter SET window_ends_at = now() WHERE key = 'ended'`);
    instance.clock.advance(1);
    expect(await instance.hit('ended')).toMatchObject({ totalHits: 1, isBlocked: false });
    expect((await instance.hitTimes(20, 'ended')).at(-1)).toMatchObject({ totalHits: 21, isBlocked: true });
  });

  it('[D19] is purged of ended windows only, by the leader in batches', async () => {
    await new Instance(dataSource).hit('running');
    await dataSource.query(
      `INSERT INTO throttle_counter SELECT 'ended ' || n, 1, now() - interval '1 second' FROM generate_series(1, 12000) n`,
    );
    await purgeJobOn(dataSource, THROTTLE_PURGE, new Clock()).run();
    expect(
      await dataSource.query(`SELECT count(*)::int FROM throttle_counter WHERE key LIKE 'ended %'`),
    ).toEqual([{ count: 0 }]);
    expect(await countQueries('running')).toBe(1);
  });

  it('[D19] accepts a client that is purged and returns at the same moment', async () => {
    const instance = new Instance(dataSource);
    const job = purgeJobOn(dataSource, THROTTLE_PURGE, new Clock());
    for (let round = 0; round < 50; round++) {
      const [verdict] = await Promise.all([instance.hit('back', 1), job.run()]);
      expect(verdict.isBlocked).toBe(false);
    }
    expect(instance.failedOpen).toBe(0);
  });
});

describeOnEachDatabase('[P.perMinute] the shared throttle store with refunds', (database) => {
  let instance: Instance;
  let other: Instance;
  let dataSource: DataSource;
  beforeAll(async () => {
    ({ dataSource } = await database.open());
    [instance, other] = [new Instance(dataSource), new Instance(dataSource)];
  });
  afterAll(() => expect([instance.failedOpen, other.failedOpen]).toEqual([0, 0]));

  it('[P.perMinute] refunds one hit at a time, and only counted ones', async () => {
    await instance.refund('one');
    await instance.hitTimes(2, 'one');
    await other.refund('one');
    expect(await instance.hit('one')).toMatchObject({ totalHits: 2 });
    for (let times = 0; times < 5; times++) await instance.refund('one');
    expect(await instance.hit('one')).toMatchObject({ totalHits: 1 });
  });

  it('[P.perMinute] does not count refused hits: each refund allows one more', async () => {
    await instance.hitTimes(LIMIT, 'full');
    await Promise.all(Array.from({ length: 30 }, (_, turn) => (turn % 2 ? other : instance).hit('full')));
    await instance.refund('full');
    expect(await instance.hit('full')).toMatchObject({ totalHits: LIMIT, isBlocked: false });
    expect(await instance.hit('full')).toMatchObject({ totalHits: LIMIT + 1, isBlocked: true });
  });

  it('[P.perMinute] counts every hit without a limit, even of a refused client', async () => {
    await instance.hitTimes(LIMIT + 1, 'any');
    await instance.hit('any', MINUTE_MS, NO_LIMIT);
    await instance.refund('any');
    expect(await instance.hit('any')).toMatchObject({ totalHits: LIMIT + 1, isBlocked: true });
  });

  it("[P.perMinute] learns of another instance's refund within a second, and until then reports the window's end", async () => {
    await instance.hitTimes(LIMIT + 1, 'elsewhere');
    await other.refund('elsewhere');
    instance.clock.advance(0.999);
    const refused = await instance.hit('elsewhere');
    expect(refused.isBlocked).toBe(true);
    expect(refused.timeToBlockExpire).toBeGreaterThan(50);
    instance.clock.advance(0.001);
    expect(await instance.hit('elsewhere')).toMatchObject({ isBlocked: false });
  });

  it('[P.perMinute] refunds nothing in a window that began after the hit', async () => {
    await instance.hit('boundary');
    await instance.refund('boundary', 30_000);
    expect(await instance.hit('boundary')).toMatchObject({ totalHits: 2 });
    await instance.refund('boundary');
    expect(await instance.hit('boundary')).toMatchObject({ totalHits: 2 });
    await instance.hit('ended');
    await dataSource.query(`UPDATE throttle_counter SET window_ends_at = now() WHERE key = 'ended'`);
    await instance.refund('ended');
    expect(await instance.hit('ended')).toMatchObject({ totalHits: 1 });
  });
});

describeOnEachDatabase('[D19] the shared throttle store without its database', (database) => {
  it('[P.perMinute] keeps hits that it cannot refund, with a warning instead of an error', async () => {
    const opened = await database.open();
    const instance = new Instance(opened.dataSource);
    await instance.hitTimes(2, 'away');
    await opened.dataSource.query('ALTER TABLE throttle_counter RENAME TO elsewhere');
    await instance.refund('away');
    await opened.dataSource.query('ALTER TABLE elsewhere RENAME TO throttle_counter');
    expect(instance.logLines).toHaveLength(1);
    instance.clock.advance(1);
    expect(await instance.hit('away')).toMatchObject({ totalHits: 3 });
    await opened.close();
  });

  it('[D19] allows requests, warns once a minute and notifies an observer of each', async () => {
    const opened = await database.open();
    const instance = new Instance(opened.dataSource);
    await instance.hitTimes(21, 'before');
    await opened.close();
    const verdicts = await instance.hitTimes(50, 'away');
    expect(verdicts.filter(({ isBlocked }) => isBlocked)).toEqual([]);
    expect(verdicts.at(-1)).toMatchObject({ timeToExpire: 60 });
    expect(instance.failedOpen).toBe(50);
    instance.clock.advance(59);
    await instance.hit('away');
    expect(instance.logLines).toHaveLength(1);
    instance.clock.advance(1);
    await instance.hit('away');
    expect(instance.logLines).toHaveLength(2);
    expect(instance.logLines[0]).toContain('requests are not throttled: the database does not count them');
  });

  it('[D19] counts again after a second even if the clock was set back by an hour', async () => {
    const opened = await database.open();
    const instance = new Instance(opened.dataSource);
    // One statement fails, as under overload. The database remains available.
    await opened.dataSource.query('ALTER TABLE throttle_counter RENAME TO elsewhere');
    await instance.hit('set back');
    await opened.dataSource.query('ALTER TABLE elsewhere RENAME TO throttle_counter');
    expect(instance.failedOpen).toBe(1);
    instance.clock.setBack(3600);
    instance.clock.advance(1);
    const verdicts = await instance.hitTimes(21, 'set back');
    expect(verdicts.map(({ isBlocked }) => isBlocked)).toEqual([...Array<boolean>(20).fill(false), true]);
    expect(instance.failedOpen).toBe(1);
    await opened.close();
  });

  it('[D19] continues to refuse clients that it has refused before', async () => {
    const opened = await database.open();
    const instance = new Instance(opened.dataSource);
    await instance.hitTimes(21, 'refused before');
    await opened.close();
    expect((await instance.hit('refused before')).isBlocked).toBe(true);
    expect(instance.failedOpen).toBe(0);
  });
});

describeOnPostgresql('[D19] the shared throttle store on a silent network', (database) => {
  it('[D19] allows a request without an answer, pauses its queries, and then counts again', async () => {
    if (database.settings.kind !== 'postgresql') throw new Error('declared for PostgreSQL');
    const proxy = await TcpProxy.open(database.settings.url);
    const away = await openDatabase({ ...database.settings, url: proxy.url }, SCHEMA);
    const instance = new Instance(away.dataSource);
    await instance.hit('silence');
    proxy.silence();
    expect(await instance.hit('silence')).toMatchObject({ isBlocked: false, totalHits: 0 });
    const asked = jest.spyOn(away.dataSource.logger, 'logQuery');
    await instance.hitTimes(100, 'silence');
    expect(asked).not.toHaveBeenCalled();
    expect(instance.failedOpen).toBe(101);
    proxy.resume();
    instance.clock.advance(1);
    // The statement that timed out still reaches the database and is counted.
    const { totalHits } = await instance.hit('silence');
    expect([2, 3]).toContain(totalHits);
    await away.close();
    await proxy.close();
  });
});
