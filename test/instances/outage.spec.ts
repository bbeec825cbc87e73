// Two processes while endpoints of issuers fail, hang or are searched for keys that nobody has; beside it the purge.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import type { OpenDatabase } from '../../src/database/data-source.js';
import { JwksServer, silence, status } from '../support/jwks-server.js';
import { ServiceCluster, describeWithProcesses } from '../support/service-cluster.js';
import { SteadyTraffic, flood, p95 } from './support/traffic.js';
import { until } from './support/until.js';

const DOWN_MS = 70_000;
const WINDOW_MS = 30_000;
const FOR_AN_HOUR = { 'cache-control': 'max-age=3600' };

jest.setTimeout(150_000);

/** An issuer with an endpoint of its own. */
class Issuer {
  private down: Promise<void> | undefined;

  private constructor(
    readonly partner: Partner,
    readonly keySet: JwksServer,
  ) {}

  static async listen(name: string): Promise<Issuer> {
    return new Issuer(Partner.create({ issuer: `https://${name}.example` }), await JwksServer.listen());
  }

  get entry(): object {
    return { type: 'jwks', url: this.keySet.url, issuer: this.partner.issuer };
  }

  publish(headers: Record<string, string> = {}): void {
    this.keySet.publish(this.partner.jwks(), headers);
  }

  /** From now on connections to the endpoint are refused; a second time it does nothing. */
  goDown(): Promise<void> {
    return (this.down ??= this.keySet.close());
  }

  /** A new token under the present key. */
  readonly token = (): string => this.partner.sign();

  /** Tokens with kids that nobody has. */
  tokensWithRandomKids(count: number): string[] {
    const { partner } = this;
    return Array.from({ length: count }, () => partner.sign(partner.claims(), { kid: `random-${randomUUID()}` }));
  }
}

describeWithProcesses('two processes', (database) => {
  let lost: Issuer;
  let flooded: Issuer;
  let failing: Issuer;
  let hanging: Issuer;
  let healthy: Issuer;
  let opened: OpenDatabase;
  let cluster: ServiceCluster;
  let downSince: number;
  let duringOutage: SteadyTraffic;
  let records: ExpiringRecords;

  const issuers = () => [lost, flooded, failing, hanging, healthy];

  beforeAll(async () => {
    opened = await database.open();
    [lost, flooded, failing, hanging, healthy] = await Promise.all([
      Issuer.listen('lost'),
      Issuer.listen('flooded'),
      Issuer.listen('failing'),
      Issuer.listen('hanging'),
      Issuer.listen('healthy'),
    ]);
    for (const issuer of issuers()) issuer.publish(FOR_AN_HOUR);
    lost.publish({ 'cache-control': 'max-age=60' });
    // Without max-age: this one is fetched at the interval.
    hanging.publish();
    cluster = await ServiceCluster.start(2, database, {
      // The time between retries is bounded by cacheTtlSeconds where there is one, else by the interval.
      trustedKeys: [...others.map(({ entry }) => entry), { ...failing.entry, cacheTtlSeconds: 3_600 }],
      environment: { SVC_TOKEN_EXCHANGE_KEY_REFRESH_INTERVAL_SECONDS: '2' },
    });
    // Two tests take longer than all others together: they run beside them.
    records = new ExpiringRecords(opened, 200);
    await lost.goDown();
    downSince = performance.now();
    duringOutage = new SteadyTraffic(cluster.instances, lost.token, 150);
  });
  afterAll(async () => {
    await records.end();
    await duringOutage.end();
    await cluster.stop();
    await Promise.all(issuers().map((issuer) => issuer.goDown()));
  });

  describe.each([
    ['up', () => flooded, undefined],
    ['down', () => failing, 503],
  ])('a flood of unknown kids while the endpoint is %s', (_, issuerOf, failure) => {
    it('[D34] 1,000 of them make at most one fetch in each window, and good traffic goes on', async () => {
      const issuer = issuerOf();
      const calm = new SteadyTraffic(cluster.instances, healthy.token, 10);
      await until('there is something to compare with', 30_000, () => calm.tookMs.length >= 150);
      await calm.end();

      if (failure !== undefined) issuer.keySet.answerWith(status(failure));
      const before = issuer.keySet.requestCount;
      const tokens = issuer.tokensWithRandomKids(1_000);
      const disturbed = new SteadyTraffic(cluster.instances, healthy.token, 10);
      const known = new SteadyTraffic(cluster.instances, issuer.token, 100);
      const startedAt = performance.now();
      expect(await flood(cluster.instances, tokens, 16)).toEqual({ 400: 1_000 });
      const fetches = issuer.keySet.requestCount - before;
      const elapsedMs = performance.now() - startedAt;
      await Promise.all([disturbed.end(), known.end()]);
      console.log(fetches, elapsedMs, p95(calm.tookMs), p95(disturbed.tookMs), disturbed.tookMs.length, known.tookMs.length);

      expect(fetches).toBeGreaterThanOrEqual(1);
      expect(fetches).toBeLessThanOrEqual(mostFetches(elapsedMs, failure !== undefined));
      expect([...calm.refusals, ...disturbed.refusals, ...known.refusals]).toEqual([]);
    });
  });

  it('[D34] a hanging endpoint delays no token of another issuer', async () => {
    hanging.keySet.answerWith(silence());
    const before = hanging.keySet.requestCount;
    await until('it is asked', 10_000, () => hanging.keySet.requestCount > before);
    let areWaiting = true;
    const startedAt = performance.now();
    const vain = flood(cluster.instances, hanging.tokensWithRandomKids(8), 8).finally(() => (areWaiting = false));
    await until('both ask', 10_000, () => hanging.keySet.requestCount > before + 1);

    healthy.partner.rotate();
    healthy.publish(FOR_AN_HOUR);
    const good = [0, 1].flatMap(() => [...Array.from({ length: 20 }, healthy.token), hanging.token(), lost.token()]);
    expect(await flood(cluster.instances, good, 4)).toEqual({ 200: good.length });
    expect(areWaiting).toBe(true);
    const goodMs = performance.now() - startedAt;
    expect(await vain).toEqual({ 400: 8 });
    console.log(goodMs, performance.now() - startedAt);
  });

  it('[D34] cached keys serve without one failure while their endpoint is down for 70 s, with max-age=60', async () => {
    await until('the time is over', DOWN_MS, () => performance.now() - downSince > DOWN_MS);
    await duringOutage.end();
    console.log(duringOutage.tookMs.length);
    expect(duringOutage.refusals).toEqual([]);
    expect(duringOutage.tookMs.length).toBeGreaterThan(300);
    const [row] = await opened.dataSource.query<{ stale: boolean; failures: number }[]>(
      `SELECT fresh_until < clock_timestamp() AS stale, consecutive_failures AS failures FROM jwks_snapshot
       WHERE url = $1`,
      [lost.keySet.url],
    );
    expect(row?.stale).toBe(true);
    expect(row?.failures).toBeGreaterThan(0);
  });

  it('[D38] the purge keeps up with 200 exchanges a second at the default interval and batch', async () => {
    await until('the first purge is over', 30_000, async () => (await records.present()) < records.added / 2);
    console.log(await records.present(), records.added);
  });
});

/** Puts in replay records that expire at this moment, as so many exchanges a second would have left them. */
class ExpiringRecords {
  added = 0;
  private isEnding = false;
  private readonly startedAt = performance.now();
  private readonly feeding: Promise<void>;

  constructor(
    private readonly database: OpenDatabase,
    private readonly perSecond: number,
  ) {
    this.feeding = this.feed();
  }

  async present(): Promise<number> {
    const [row] = await this.database.dataSource.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM used_jti WHERE expires_at < now()`,
    );
    return row?.count ?? Number.NaN;
  }

  async end(): Promise<void> {
    this.isEnding = true;
    await this.feeding;
  }

  private async feed(): Promise<void> {
    while (!this.isEnding) {
      const due = Math.floor(((performance.now() - this.startedAt) / 1000) * this.perSecond) - this.added;
      await this.database.dataSource.query(
        `INSERT INTO used_jti SELECT sha256(random()::text::bytea), now() - interval '2 minutes'
         FROM generate_series(1, $1)`,
        [due],
      );
      this.added += due;
      await pause(100);
    }
  }
}

/** One extra fetch per window, and where they fail the leader's retries after 5, 10, 20… s, a fifth less at least. */
function mostFetches(elapsedMs: number, fail: boolean): number {
  const windows = Math.floor(elapsedMs / WINDOW_MS) + 1;
  const retries = Math.floor(Math.log2(elapsedMs / 4_000 + 1));
  return windows + (fail ? retries : 0);
}
