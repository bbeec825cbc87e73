// Several instances on one database share what one of them fetches, and fetch no more than one would.
import { SigningKey } from '../../demo/signing-key.js';
import { Clock } from '../../src/platform/clock.js';
import { describeOnPostgresql } from '../support/databases.js';
import type { JwksInstanceParts } from '../support/jwks-instance.js';
import { AppointedLeader, JwksInstance } from '../support/jwks-instance.js';
import { body, delayed, JwksServer, silence, status } from '../support/jwks-server.js';
import { TestClock } from '../support/test-clock.js';
import { until } from '../support/until.js';

const ISSUER = 'https://a.example';
const OLD = new SigningKey('old', 'ES256').publicJwk();
const NEW = new SigningKey('new', 'ES256').publicJwk();
const LIMIT_MS = 60_000;
const UNREACHABLE = 'postgres://nobody@127.0.0.1:1/nowhere';

describeOnPostgresql('three instances', (database) => {
  let server: JwksServer;
  let clock: TestClock;
  let instances: JwksInstance[] = [];

  const start = async (parts: Partial<JwksInstanceParts> = {}) => {
    const entries = [{ type: 'jwks' as const, entryIndex: 0, label: 'a', issuer: ISSUER, url: server.url }];
    const opened = await database.open();
    const instance = await JwksInstance.start(opened, database.settings, { entries, clock, ...parts });
    instances.push(instance);
    return instance;
  };
  /** A leader that has fetched, and followers that know it. */
  const startThree = async (
    parts: Partial<JwksInstanceParts> = {},
    clockOfFollowers = parts.clock ?? clock,
  ) => {
    const leader = await start({ ...parts, leader: new AppointedLeader(true) });
    await leader.tick();
    const follower = { ...parts, clock: clockOfFollowers, leader: new AppointedLeader(false) };
    return [leader, await start(follower), await start(follower)] as const;
  };
  const untilAllListen = () =>
    until('all listen', LIMIT_MS, async () => (await instances[0]!.query(LISTENERS)).length === 3);
  /** Only looks: asking for a key that is not there would set a search off. */
  const allHold = (count: number) => instances.every(({ keys }) => keys.status()[0]?.keys === count);
  const allHave = (kid: string) => instances.every((instance) => instance.held(ISSUER, kid) !== undefined);

  beforeEach(async () => {
    clock = new TestClock();
    server = await JwksServer.listen();
    server.publish({ keys: [OLD] });
  });
  afterEach(async () => {
    await server.close();
    await Promise.all(instances.map((instance) => instance.stop()));
    await Promise.all(instances.map((instance) => instance.database.close()));
    instances = [];
  });

  it('[D36] have a rotated key soon after the first refresh, and drop none too early', async () => {
    // The clock of followers is stopped, so that none of them polls.
    await startThree({ clock: new Clock(), options: { refreshIntervalSeconds: 2 } }, new TestClock());
    await untilAllListen();
    const watch = new KeyWatch(() => allHave('old'));
    const before = server.requestCount;
    server.publish({ keys: [NEW, OLD] });
    await until('it is asked', LIMIT_MS, () => server.requestCount > before);
    await until('all hold both keys', LIMIT_MS, () => allHold(2));
    expect(watch.end()).toBe(true);
    server.publish({ keys: [NEW] });
    await until('all hold one key', LIMIT_MS, () => allHold(1));
    expect(allHave('new')).toBe(true);
  });

  it('[D36] include followers that do not refresh; the new leader does when a refresh is due', async () => {
    const [leader, first] = await startThree();
    await leader.stop();
    const elected = new AppointedLeader(false);
    const next = await start({ leader: elected });
    clock.advance(299);
    elected.isLeader = true;
    await Promise.all([next.tick(), first.tick()]);
    expect(server.requestCount).toBe(1);
    clock.advance(1);
    await first.tick();
    expect(server.requestCount).toBe(1);
    await next.tick();
    expect(server.requestCount).toBe(2);
  });

  it("[D36] include followers that know the leader's failure and its cause", async () => {
    const [leader, first] = await startThree();
    server.answerWith(status(503));
    clock.advance(300);
    await leader.tick();
    await until('it has heard', LIMIT_MS, () => first.keys.status()[0]?.lastFailureReason === 'status 503');
    expect(first.keys.status()).toEqual(leader.keys.status());
    expect(first.held(ISSUER, 'old')).toBeDefined();
  });

  it('[D36] share one fetch for a new kid that all need at once', async () => {
    const three = await startThree();
    clock.advance(1);
    server.answerWith(delayed(1_500, body(JSON.stringify({ keys: [NEW, OLD] }))));
    const found = await Promise.all(three.map((instance) => instance.find(ISSUER, 'new')));
    expect(found.map((key) => key?.kid)).toEqual(['new', 'new', 'new']);
    expect(server.requestCount).toBe(2);
  });

  it('[D36] include a follower that reads the snapshot before it fetches if it missed a notification', async () => {
    const [leader] = await startThree();
    const deaf = await start({ leader: new AppointedLeader(false), notificationsUrl: UNREACHABLE });
    server.publish({ keys: [NEW, OLD] });
    clock.advance(300);
    await leader.tick();
    server.answerWith(status(500));
    expect(await deaf.find(ISSUER, 'new')).toBeDefined();
    expect(server.requestCount).toBe(2);
  });

  it('[D34] stop within one deadline if an endpoint hangs', async () => {
    const [leader] = await startThree();
    server.answerWith(silence());
    clock.advance(300);
    const before = server.requestCount;
    let isOver = false;
    const fetched = leader.tick().finally(() => (isOver = true));
    await leader.stop();
    expect([isOver, server.requestCount]).toEqual([true, before + 1]);
    await fetched;
  });
});

const LISTENERS = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND query LIKE 'LISTEN%' AND state = 'idle'`;

/** Looks all the time whether something stays true. */
class KeyWatch {
  private held = true;
  private readonly timer: NodeJS.Timeout;

  constructor(condition: () => boolean) {
    this.timer = setInterval(() => (this.held &&= condition()), 20);
    // A test that fails before the end must not keep the process.
    this.timer.unref();
  }

  /** Whether it was true at every look. */
  end(): boolean {
    clearInterval(this.timer);
    return this.held;
  }
}
