// Two processes while endpoints of issuers fail, hang, or are searched for keys that nobody has; beside it the purge.
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { ExpiringRecords } from '../support/expiring-records.js';
import { silence, status } from '../support/jwks-server.js';
import { ServiceCluster, describeWithProcesses } from '../support/service-cluster.js';
import { until } from '../support/until.js';
import { Issuer } from './support/issuer.js';
import { SteadyTraffic, flood, p95 } from './support/traffic.js';

const DOWN_MS = 70_000;
const WINDOW_MS = 30_000;
const HOUR_SECONDS = 3_600;
const EXCHANGES_PER_SECOND = 200;

jest.setTimeout(150_000);

/** Two of the tests take longer than all others together: they begin before these and go on beside them. */
describeWithProcesses('two processes', (database) => {
  let lost: Issuer;
  let flooded: Issuer;
  let failing: Issuer;
  let hanging: Issuer;
  let healthy: Issuer;
  let opened: OpenDatabase;
  let cluster: ServiceCluster;
  let records: ExpiringRecords;
  let lostAt: number;
  let lostTraffic: SteadyTraffic;

  const startTraffic = (issuer: Issuer, pauseMs: number) =>
    new SteadyTraffic(cluster.instances, () => issuer.partner.sign(), pauseMs);

  beforeAll(async () => {
    opened = await database.open();
    lost = await Issuer.listen('lost', 60);
    flooded = await Issuer.listen('flooded', HOUR_SECONDS);
    failing = await Issuer.listen('failing', HOUR_SECONDS);
    healthy = await Issuer.listen('healthy', HOUR_SECONDS);
    // Without max-age: this one is fetched every other second.
    hanging = await Issuer.listen('hanging');
    cluster = await ServiceCluster.start(2, database, {
      trustedKeys: [
        ...[lost, flooded, healthy, hanging].map((issuer) => issuer.entry()),
        // Also keeps retries from coming as often as that.
        failing.entry({ cacheTtlSeconds: HOUR_SECONDS }),
      ],
      environment: { SVC_TOKEN_EXCHANGE_KEY_REFRESH_INTERVAL_SECONDS: '2' },
    });
    records = new ExpiringRecords(opened, EXCHANGES_PER_SECOND);
    await lost.goDown();
    lostAt = performance.now();
    lostTraffic = startTraffic(lost, 150);
  });
  afterAll(async () => {
    await Promise.all([records.end(), lostTraffic.end()]);
    await cluster.stop();
    await Promise.all([lost, flooded, failing, hanging, healthy].map((issuer) => issuer.goDown()));
  });

  describe('1,000 unknown kids', () => {
    /** @returns how many fetches they caused, and in which time */
    const searchInVain = async (issuer: Issuer) => {
      const tokens = issuer.tokensOfUnknownKids(1_000);
      const before = issuer.keySet.requestCount;
      const startedAt = performance.now();
      expect(await flood(cluster.instances, tokens, 8)).toEqual({ 400: tokens.length });
      return { fetches: issuer.keySet.requestCount - before, elapsedMs: performance.now() - startedAt };
    };

    it('[D34] make one fetch in each window while the endpoint is up, and good traffic goes on', async () => {
      const calm = startTraffic(healthy, 10);
      await until('there is something to compare with', 60_000, () => calm.tookMs.length >= 100);
      await calm.end();
      const disturbed = startTraffic(healthy, 10);
      const { fetches, elapsedMs } = await searchInVain(flooded);
      await disturbed.end();
      expect(fetches).toBeGreaterThan(0);
      expect(fetches).toBeLessThanOrEqual(windowsIn(elapsedMs));
      expect([...calm.refusals, ...disturbed.refusals]).toEqual([]);
      expect(p95(disturbed.tookMs)).toBeLessThan(25 * p95(calm.tookMs) + 500);
    });

    it('[D34] make no more fetches while it is down, beside the retries, and known kids pass', async () => {
      failing.keySet.answerWith(status(503));
      const known = startTraffic(failing, 50);
      const { fetches, elapsedMs } = await searchInVain(failing);
      await known.end();
      expect(fetches).toBeGreaterThan(0);
      expect(fetches).toBeLessThanOrEqual(windowsIn(elapsedMs) + retriesIn(elapsedMs));
      expect(known.refusals).toEqual([]);
    });
  });

  it('[D34] a hanging endpoint delays no token of another issuer, and none with a cached key of its own', async () => {
    hanging.keySet.answerWith(silence());
    const before = hanging.keySet.requestCount;
    await until('the leader waits for it', 10_000, () => hanging.keySet.requestCount > before);
    // At one instance at least, searches for a kid wait for a fetch that begins now: for all of its five seconds.
    let areWaiting = true;
    const vain = flood(cluster.instances, hanging.tokensOfUnknownKids(8), 8).finally(
      () => (areWaiting = false),
    );
    healthy.partner.rotate();
    healthy.publish(HOUR_SECONDS);
    const good = [...healthy.tokens(40), ...hanging.tokens(4), ...lost.tokens(4)];
    expect(await flood(cluster.instances, good, 4)).toEqual({ 200: good.length });
    expect(areWaiting).toBe(true);
    expect(await vain).toEqual({ 400: 8 });
  });

  it('[D34] the next window of unknown kids has one fetch more', async () => {
    const isWindowOver = `SELECT last_unknown_kid_fetch_at < clock_timestamp() - $2 * interval '1 ms' AS "isOver"
      FROM token_exchange_jwks_snapshot WHERE url = $1`;
    await until('the window is over', 2 * WINDOW_MS, async () => {
      const [row] = await opened.dataSource.query<{ isOver: boolean }[]>(isWindowOver, [
        flooded.keySet.url,
        WINDOW_MS,
      ]);
      return row?.isOver === true;
    });
    const before = flooded.keySet.requestCount;
    expect(await flood(cluster.instances, flooded.tokensOfUnknownKids(40), 8)).toEqual({ 400: 40 });
    expect(flooded.keySet.requestCount).toBe(before + 1);
  });

  it('[D34] cached keys serve without one failure while their endpoint is down for 70 s, with max-age=60', async () => {
    await until('the time is over', DOWN_MS, () => performance.now() - lostAt > DOWN_MS);
    await lostTraffic.end();
    expect(lostTraffic.refusals).toEqual([]);
    expect(lostTraffic.tookMs.length).toBeGreaterThan(300);
    const snapshots = await opened.dataSource.query<unknown[]>(
      `SELECT fresh_until < clock_timestamp() AS "isStale", consecutive_failures > 0 AS "isFailing"
       FROM token_exchange_jwks_snapshot WHERE url = $1`,
      [lost.keySet.url],
    );
    expect(snapshots).toEqual([{ isStale: true, isFailing: true }]);
  });

  it('[D38] the purge keeps up with 200 exchanges a second at the default interval and batch', async () => {
    // One batch a minute would leave eleven twelfths of them.
    await until(
      'a run has purged all there was',
      30_000,
      async () => (await records.present()) < records.added / 2,
    );
    expect(records.added).toBeGreaterThan(11_000);
  });
});

function windowsIn(elapsedMs: number): number {
  return Math.floor(elapsedMs / WINDOW_MS) + 1;
}

/** The leader tries again 5, 10, 20… seconds after each failure, or up to a fifth less (D34). */
function retriesIn(elapsedMs: number): number {
  return Math.floor(Math.log2(elapsedMs / 4_000 + 1));
}
