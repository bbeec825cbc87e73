// What processes on one database have in common from their first moment: signing keys, sessions, key sets.
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { MIGRATIONS } from '../../src/instance/schema.js';
import { JwksServer } from '../support/jwks-server.js';
import { cookieOf } from '../support/logins.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { ServiceCluster, describeWithProcesses } from '../support/service-cluster.js';
import { BASE_URL } from '../support/test-service.js';
import { until } from '../support/until.js';

const ISSUER = 'https://partner.example';
const SOON_MS = 60_000;
const REFRESH_INTERVAL_SECONDS = 2;

/** Posts one new token after another to each instance, and keeps what was not accepted. */
class SteadyTraffic {
  /** How many tokens were accepted. */
  accepted = 0;
  /** When and by whom a token was not accepted. */
  readonly refusals: string[] = [];
  private isEnding = false;
  private readonly loops: Promise<void[]>;

  /** @param pauseMs between an answer and the next request to the same instance */
  constructor(instances: readonly ServiceInstance[], makeToken: () => string, pauseMs: number) {
    this.loops = Promise.all(instances.map((instance) => this.loop(instance, makeToken, pauseMs)));
  }

  /** Resolves when every request has its answer. */
  async end(): Promise<void> {
    this.isEnding = true;
    await this.loops;
  }

  private async loop(instance: ServiceInstance, makeToken: () => string, pauseMs: number): Promise<void> {
    while (!this.isEnding) {
      const outcome = await instance.exchangeStatus(makeToken()).catch((error: unknown) => String(error));
      if (outcome === 200) this.accepted += 1;
      else this.refusals.push(`${new Date().toISOString()} ${instance.name}: ${outcome}`);
      await pause(pauseMs);
    }
  }
}

describeWithProcesses('three processes that start at the same moment on an empty database', (database) => {
  const partner = Partner.create({ issuer: ISSUER, kid: 'old' });
  const rotated = Partner.create({ issuer: ISSUER, kid: 'new' });
  const keysOf = (...partners: Partner[]) => ({ keys: partners.flatMap((one) => one.jwks().keys) });
  let keySet: JwksServer;
  let closed: Promise<void> | undefined;
  let opened: OpenDatabase;
  let cluster: ServiceCluster;

  const goDown = () => (closed ??= keySet.close());
  const rows = <Row>(sql: string) => opened.dataSource.query<Row[]>(sql);
  /** What each instance answers, in their order. */
  const onEach = <T>(ask: (instance: ServiceInstance) => Promise<T>) =>
    Promise.all(cluster.instances.map(ask));

  beforeAll(async () => {
    opened = await database.open();
    await rows('DROP SCHEMA public CASCADE');
    await rows('CREATE SCHEMA public');
    keySet = await JwksServer.listen();
    keySet.publish(keysOf(partner));
    cluster = await ServiceCluster.start(3, database, {
      trustedKeys: [{ type: 'jwks', url: keySet.url, issuer: ISSUER }],
      environment: { SVC_TOKEN_EXCHANGE_KEY_REFRESH_INTERVAL_SECONDS: String(REFRESH_INTERVAL_SECONDS) },
    });
  });
  afterAll(async () => {
    await cluster.stop();
    await goDown();
  });

  it('[D29] bring the schema up to date once, make one signing key, and publish it everywhere', async () => {
    expect(await rows('SELECT name FROM schema_migration')).toHaveLength(MIGRATIONS.length);
    const keys = await rows<{ kid: string }>('SELECT kid FROM token_exchange_signing_key');
    expect(keys).toHaveLength(1);
    const published = await onEach(async (instance) =>
      (await instance.fetch('/.well-known/jwks.json')).json(),
    );
    for (const set of published) expect(set).toMatchObject({ keys: [{ kid: keys[0]?.kid }] });
  });

  it('[D29][D45] take access tokens of each other: each opens the key that one of them sealed', async () => {
    const tokens = await onEach(async (instance) => {
      const answer = await instance.exchange(partner.sign());
      return ((await answer.json()) as { access_token: string }).access_token;
    });
    for (const token of tokens) {
      const headers = { authorization: `Bearer ${token}` };
      expect(
        await onEach(async (instance) => (await instance.fetch('/rest/me', { headers })).status),
      ).toEqual([200, 200, 200]);
    }
  });

  it('[D25][D28] take sessions of each other, and none that one of them has ended', async () => {
    const login = await cluster.instance(0).embed(partner.sign());
    const cookie = cookieOf(login);
    const statuses = () =>
      onEach(async (instance) => (await instance.fetch('/rest/me', { headers: { cookie } })).status);
    expect(await statuses()).toEqual([200, 200, 200]);
    const headers = { cookie, origin: BASE_URL };
    expect((await cluster.instance(1).fetch('/rest/auth/logout', { method: 'POST', headers })).status).toBe(
      204,
    );
    expect(await statuses()).toEqual([401, 401, 401]);
  });

  it('[D36] know a rotated key soon after its first refresh, and refuse the old one only after its removal', async () => {
    const oldTraffic = new SteadyTraffic(cluster.instances, () => partner.sign(), 50);
    await refreshed(() => keySet.publish(keysOf(rotated, partner)));
    // Looking at what they hold: a token with the new kid would set off a search for it.
    await until('all hold both keys', SOON_MS, async () =>
      (await onEach((instance) => instance.keysHeld())).every(({ [ISSUER]: count }) => count === 2),
    );
    expect(await onEach((instance) => instance.exchangeStatus(rotated.sign()))).toEqual([200, 200, 200]);
    const newTraffic = new SteadyTraffic(cluster.instances, () => rotated.sign(), 50);
    await until('the old key was in use for a while', SOON_MS, () => oldTraffic.accepted > 100);
    await oldTraffic.end();
    expect(oldTraffic.refusals).toEqual([]);

    await refreshed(() => keySet.publish(keysOf(rotated)));
    const oldStatuses = () => onEach((instance) => instance.exchangeStatus(partner.sign()));
    await until('all refuse the old key', SOON_MS, async () =>
      (await oldStatuses()).every((status) => status === 400),
    );
    for (let again = 0; again < 5; again++) expect(await oldStatuses()).toEqual([400, 400, 400]);
    await newTraffic.end();
    expect(newTraffic.refusals).toEqual([]);
  });

  it('[D36] serve what is stored at once when they start while the endpoint is down', async () => {
    expect(await onEach((instance) => instance.stop())).toEqual([0, 0, 0]);
    await goDown();
    await onEach((instance) => instance.start());
    const statuses = [1, 2, 3].map(() => onEach((instance) => instance.exchangeStatus(rotated.sign())));
    expect((await Promise.all(statuses)).flat()).toEqual(Array.from({ length: 9 }, () => 200));
    await until('the leader has asked in vain', SOON_MS, async () => {
      const [row] = await rows<{ failures: number }>(
        'SELECT consecutive_failures AS failures FROM token_exchange_jwks_snapshot',
      );
      return (row?.failures ?? 0) > 0;
    });
    expect(await onEach((instance) => instance.exchangeStatus(rotated.sign()))).toEqual([200, 200, 200]);
  });

  /** Resolves when the endpoint is asked for the first time after a change. */
  async function refreshed(change: () => void): Promise<void> {
    change();
    const before = keySet.requestCount;
    await until('the leader refreshes', SOON_MS, () => keySet.requestCount > before);
  }
});
