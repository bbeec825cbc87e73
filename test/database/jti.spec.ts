// The table of used token ids: what uses them up, what purges them, and how fast.
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { Partner } from '../../demo/partner.js';
import { Database } from '../../src/platform/database/database.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import type { Log } from '../../src/platform/log/log.js';
import { SILENT } from '../../src/platform/log/log.js';
import { createLogger } from '../../src/platform/log/logger.js';
import { SilentTelemetry } from '../../src/token-exchange/host/telemetry.js';
import { JtiRepository, RETENTION_MARGIN_SECONDS } from '../../src/token-exchange/replay/jti.repository.js';
import type { UseRepository } from '../../src/token-exchange/replay/use.repository.js';
import { jtiHashOf } from '../../src/token-exchange/replay/use.repository.js';
import { usedIdPurge } from '../../src/token-exchange/replay/used-id-purge.js';
import type { TokenUse } from '../../src/token-exchange/verify/external-claims.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { batches, purgeJobOn } from '../support/purges.js';
import { whenMeasured } from '../support/series.js';
import { TestClock } from '../support/test-clock.js';
import { TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { areNew, usesOn } from '../support/uses.js';

const LOGGER = createLogger('silent');

describeOnEachDatabase('used token ids', (database) => {
  const clock = new TestClock();
  let dataSource: DataSource;
  let jtis: JtiRepository;
  let uses: UseRepository;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
    jtis = new JtiRepository(new Database(dataSource));
    uses = usesOn(dataSource, false);
  });
  beforeEach(() => dataSource.query('TRUNCATE token_exchange_used_jti'));

  const count = async () => {
    const [row] = await dataSource.query<{ rows: number }[]>(
      'SELECT count(*)::int AS "rows" FROM token_exchange_used_jti',
    );
    return row?.rows;
  };
  const use = (jti: string, exp = clock.nowSeconds() + 60) => ({ jti, exp });
  const consume = (ids: readonly TokenUse[]) => areNew(uses, ids);
  const isRefused = async (work: Promise<boolean>) => !(await work);
  const purgeJob = (batchSize: number, telemetry = new SilentTelemetry(), log: Log = LOGGER) =>
    purgeJobOn(
      dataSource,
      usedIdPurge({ replayPurge: { intervalSeconds: 3600, batchSize } }, telemetry, jtis, clock, log),
      clock,
    );
  /** Rows whose tokens expired some seconds before the present of the clock, or expire after it. */
  const fill = (rows: number, expiredSecondsAgo: number) =>
    dataSource.query(
      `INSERT INTO token_exchange_used_jti SELECT gen_random_uuid(), to_timestamp($1) FROM generate_series(1, $2::int)`,
      [clock.nowSeconds() - expiredSecondsAgo, rows],
    );

  it('[D91] report how many records there are, and count no more expired ones than requested', async () => {
    await fill(30, RETENTION_MARGIN_SECONDS + 90);
    await fill(20, RETENTION_MARGIN_SECONDS - 600);
    const expired = (await jtis.measure(clock.now(), 1_000)).expired;
    expect(expired).toBeGreaterThanOrEqual(30);
    expect((await jtis.measure(clock.now(), 10)).expired).toBe(10);
    await dataSource.query('ANALYZE token_exchange_used_jti');
    expect((await jtis.measure(clock.now(), 10)).estimate).toBe(await count());
    await purgeJob(1_000).run();
    expect((await jtis.measure(clock.now(), 10)).expired).toBe(0);
    await dataSource.query('DELETE FROM token_exchange_used_jti');
  });

  it('[5.2.5] are used up once within a transaction too, and can be checked without being used', async () => {
    await consume([use('used')]);
    const [used, free] = ['used', 'free'].map((jti) => ({ hash: jtiHashOf(jti) }));
    const answers = new Transactions(new Database(dataSource)).run(async (each) => [
      await jtis.hasUsed(each, [used!, free!]),
      await jtis.hasUsed(each, [free!]),
      await jtis.useUp(each, use('used'), 'issuer'),
      await jtis.useUp(each, use('free'), 'issuer'),
      await jtis.useUp(each, use('free'), 'issuer'),
    ]);
    expect(await answers).toEqual([true, false, false, true, false]);
  });

  it("[D3] include a client’s JWT id, on a request's connection rather than two background ones", async () => {
    const connect = () => Promise.reject(new Error('a request has asked the pool for background work'));
    const ofRequests = new JtiRepository(new Database(dataSource, { connect }));
    expect([await ofRequests.useAlone(use('client')), await ofRequests.useAlone(use('client'))]).toEqual([
      true,
      false,
    ]);
  });

  it('[D2] differ by case, spaces and normalization', async () => {
    const ids = ['Id', 'id', 'id ', '\u00e9', 'e\u0301'];
    for (const jti of ids) expect([jti, await consume([use(jti)])]).toEqual([jti, true]);
  });

  it('[D2][K28] are stored only as half of the SHA-256 of the UTF-8 id', async () => {
    const jti = `\u{1f600} ${'long'.repeat(100_000)}`;
    await consume([use(jti, 1_900_000_000)]);
    const rows = await dataSource.query<Record<string, unknown>[]>('SELECT * FROM token_exchange_used_jti');
    const hash = createHash('sha256').update(jti, 'utf8').digest('hex');
    const stored = rows.map((row) => ({ ...row, jti_hash: String(row['jti_hash']).replaceAll('-', '') }));
    const expires_at = new Date(1_900_000_000_000);
    expect(stored).toEqual([{ jti_hash: hash.slice(0, 32), expires_at, logout_issuer: null }]);
  });

  it("[2.6] are kept for one hour after the token's end, and then deleted", async () => {
    const job = purgeJob(1000);
    const ended = (secondsAgo: number) => use(`${secondsAgo}`, clock.nowSeconds() - secondsAgo);
    await consume([use('kept'), ended(3_600), ended(3_600.001)]);
    await job.run();
    expect(await count()).toBe(2);
    expect(await isRefused(consume([use('kept')]))).toBe(true);
    // The id must expire by both clocks, and the database's clock cannot be set.
    await dataSource.query(
      `UPDATE token_exchange_used_jti SET expires_at = expires_at - $1 * interval '1 second'`,
      [60 + RETENTION_MARGIN_SECONDS + 1],
    );
    await job.run();
    expect(await count()).toBe(0);
  });

  it('[8.4] are deleted in batches, the oldest first', async () => {
    await fill(30, RETENTION_MARGIN_SECONDS + 200);
    await fill(30, RETENTION_MARGIN_SECONDS + 500);
    await purgeJob(30).run(batches(1));
    const left = await dataSource.query<unknown[]>(
      'SELECT 1 FROM token_exchange_used_jti WHERE expires_at > to_timestamp($1)',
      [clock.nowSeconds() - RETENTION_MARGIN_SECONDS - 300],
    );
    expect([await count(), left.length]).toEqual([30, 30]);
  });

  it('[8.3] are counted and logged by each purge, with its result', async () => {
    const seen: unknown[] = [];
    const see = (value: unknown) => void seen.push(value);
    const counts = { countReplayPurge: see, countPurgedReplayRecords: see };
    const watchReplayRecords: SilentTelemetry['watchReplayRecords'] = (read) => see(read(3));
    const telemetry = Object.assign(new SilentTelemetry(), { ...counts, watchReplayRecords });
    await fill(4, RETENTION_MARGIN_SECONDS + 200);
    const job = purgeJob(1, telemetry, { ...SILENT, debug: see });
    expect(await seen.pop()).toMatchObject({ expired: 3 });
    await job.run();
    await dataSource.query('ALTER TABLE token_exchange_used_jti RENAME TO elsewhere');
    await expect(job.run()).rejects.toThrow('token_exchange_used_jti');
    await dataSource.query('ALTER TABLE elsewhere RENAME TO token_exchange_used_jti');
    const ofEach = Array(4)
      .fill([1, { deleted: 1 }])
      .flat();
    expect(seen).toEqual([...ofEach, 0, 'succeeded', 'failed']);
  });

  it('[D38][K30] are purged fast enough: 20,000 expired records in one run, while new ids are used', async () => {
    await fill(20_000, RETENTION_MARGIN_SECONDS + 200);
    const startedAt = performance.now();
    let isRunning = true;
    const run = purgeJob(1000)
      .run()
      .finally(() => (isRunning = false));
    let consumed = 0;
    while (isRunning) {
      await consume([use(`meanwhile-${consumed++}`)]);
      // The embedded database answers without leaving this turn of the event loop; requests would come between.
      await nextTurn();
    }
    await run;
    expect(await count()).toBe(consumed);
    // One that waited for the whole run would be the second at most.
    expect(consumed).toBeGreaterThan(2);
    // 200 exchanges a second for the 60 seconds between two runs are 12,000 records.
    const tookMs = performance.now() - startedAt;
    whenMeasured(() => expect(tookMs).toBeLessThan(60_000));
  });
});

describeOnEachDatabase('the purge in a running service', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  const clock = new TestClock();
  const service = TestService.forBlock(database, {
    trustedKeys: [partner.staticEntry()],
    clock,
    environment: { SVC_TOKEN_EXCHANGE_JTI_CLEANUP_INTERVAL_SECONDS: '1' },
  });

  const hasRecords = async () => (await service.rows('SELECT 1 FROM token_exchange_used_jti')).length > 0;

  it('[8.3] runs at the configured interval, and a purged token stays refused', async () => {
    const token = partner.sign(partner.claims({ iat: Math.floor(clock.nowSeconds()) }));
    await service.accessToken({ subject_token: token });
    clock.advance(56);
    await service.rows(`UPDATE token_exchange_used_jti SET expires_at = now() - interval '62 minutes'`);
    await until('it has come', 60_000, async () => !(await hasRecords()));
    expect((await service.exchange({ subject_token: token })).status).toBe(400);
  });
});
