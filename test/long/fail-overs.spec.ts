// The leader's work after repeated kills of its process, and while it is frozen. database/leader.spec.ts disconnects it from the database.
import { Partner } from '../../demo/partner.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { JwksServer, status } from '../support/jwks-server.js';
import { sizeOf } from '../support/series.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { describeWithProcesses, ServiceCluster } from '../support/service-cluster.js';
import { until } from '../support/until.js';

const KILLS = Array.from({ length: sizeOf({ small: 1, whole: 20 }) }, (_, index) => index + 1);
/** The time limit for a new leader. */
const TAKEOVER_MS = 10_000;
/** The time limit for a leader's first refresh and purge, which are due each second. */
const AT_WORK_MS = 60_000;
const ASLEEP_MS = 20_000;
const LEADS_NOW = 'this instance is the leader now';
const LEADS_NO_LONGER = 'this instance is no longer the leader';
const FETCH_FAILED = 'a key set was never fetched: tokens of its entry are refused';
const PURGED = 'expired replay records purged';

/** Both kinds of work are due every second; log lines at debug level tell of both. */
const EAGER = {
  SVC_TOKEN_EXCHANGE_KEY_REFRESH_INTERVAL_SECONDS: '1',
  SVC_TOKEN_EXCHANGE_JTI_CLEANUP_INTERVAL_SECONDS: '1',
  SVC_LOG_LEVEL: 'debug',
};

const EXPIRED_RECORD =
  "INSERT INTO token_exchange_used_jti VALUES (gen_random_uuid(), now() - interval '2 hours')";

type Deed = 'refresh' | 'purge';

/** One statement of an instance that reached the database. */
interface Deeds {
  deed: Deed;
  /** The number of affected rows. */
  rows: number;
  /** On the database's clock, in milliseconds since the Unix epoch. */
  atMs: number;
}

/** Instances are told apart by the application name of their connections. */
class Witness {
  private constructor(private readonly database: OpenDatabase) {}

  static async install(database: OpenDatabase): Promise<Witness> {
    for (const statement of TRIGGERS) await database.dataSource.query(statement);
    return new Witness(database);
  }

  /** What an instance did after a moment, oldest first. */
  async deedsOf(instance: string, afterMs = 0): Promise<Deeds[]> {
    return this.database.dataSource.query<Deeds[]>(
      `SELECT deed, rows, at_ms::float8 AS "atMs" FROM witnessed
       WHERE instance = $1 AND at_ms > $2 ORDER BY at_ms`,
      [instance, afterMs],
    );
  }

  /** How often an instance has refreshed and purged (something) after a moment. */
  async countOf(instance: string, afterMs = 0): Promise<Record<Deed, number>> {
    const deeds = (await this.deedsOf(instance, afterMs)).filter(({ rows }) => rows > 0);
    const count = (deed: Deed) => deeds.filter((one) => one.deed === deed).length;
    return { refresh: count('refresh'), purge: count('purge') };
  }

  async nowMs(): Promise<number> {
    const [row] = await this.database.dataSource.query<{ now: number }[]>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
    );
    return row?.now ?? Number.NaN;
  }
}

const TRIGGERS = [
  `CREATE TABLE witnessed (
    instance text NOT NULL DEFAULT current_setting('application_name'),
    deed text NOT NULL,
    rows integer NOT NULL,
    at_ms double precision NOT NULL DEFAULT extract(epoch FROM clock_timestamp()) * 1000
  )`,
  `CREATE FUNCTION witness_purge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO witnessed (deed, rows) SELECT 'purge', count(*) FROM gone;
    RETURN NULL;
  END $$`,
  `CREATE FUNCTION witness_refresh() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO witnessed (deed, rows) VALUES ('refresh', 1);
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER witness AFTER DELETE ON token_exchange_used_jti REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION witness_purge()`,
  `CREATE TRIGGER witness AFTER INSERT OR UPDATE OF revision ON token_exchange_jwks_snapshot
    FOR EACH ROW EXECUTE FUNCTION witness_refresh()`,
];

describeWithProcesses('the leader of three processes', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  let keySet: JwksServer;
  let opened: OpenDatabase;
  let witness: Witness;
  let cluster: ServiceCluster;
  let expiring: NodeJS.Timeout;

  beforeAll(async () => {
    opened = await database.open();
    witness = await Witness.install(opened);
    keySet = await JwksServer.listen();
    failDifferentlyEachTime(keySet);
    cluster = await ServiceCluster.start(3, database, {
      trustedKeys: [{ type: 'jwks', url: keySet.url, issuer: partner.issuer }],
      environment: EAGER,
    });
    // There are always rows to purge.
    expiring = setInterval(() => void opened.dataSource.query(EXPIRED_RECORD), 200);
  });
  afterAll(async () => {
    clearInterval(expiring);
    await cluster.stop();
    await keySet.close();
  });

  /** Waits until one instance has refreshed and purged, and returns it. */
  const leaderAtWork = async (since = 0): Promise<ServiceInstance> => {
    let found: ServiceInstance | undefined;
    await until('an instance refreshes and purges', AT_WORK_MS, async () => {
      found = await instanceAtWork(since);
      return found !== undefined;
    });
    return found!;
  };
  const instanceAtWork = async (since: number) => {
    for (const instance of cluster.instances) {
      const { refresh, purge } = await witness.countOf(instance.name, since);
      if (refresh > 0 && purge > 0) return instance;
    }
    return undefined;
  };
  const hasWorked = async (instance: ServiceInstance, since: number, times: number) => {
    const { refresh, purge } = await witness.countOf(instance.name, since);
    return Math.min(refresh, purge) >= times;
  };

  it('[D36] is the only one that refreshes and purges', async () => {
    const leader = await leaderAtWork();
    await until('the leader has worked for a while', AT_WORK_MS, () => hasWorked(leader, 0, 3));
    const others = cluster.instances.filter((instance) => instance !== leader);
    for (const other of others) expect(await witness.deedsOf(other.name)).toEqual([]);
  });

  it.each(KILLS)('[D94] is replaced by a working leader within 10 s after kill -9 (round %d)', async () => {
    const first = await leaderAtWork(await witness.nowMs());
    const others = cluster.instances.filter((instance) => instance !== first);
    const killedAt = await witness.nowMs();
    await first.kill();
    const second = await leaderAtWork(killedAt);
    expect(others).toContain(second);
    expect(leadsAfterMs(second, killedAt)).toBeLessThan(TAKEOVER_MS);
    await until('its log tells of both', AT_WORK_MS, () =>
      [FETCH_FAILED, PURGED].every((message) => timesSaid(second, message, killedAt) > 0),
    );
    await first.start();
  });

  it('[D94] is replaced within 10 s if it is frozen for 20 s, and no longer refreshes or purges afterwards', async () => {
    const first = await leaderAtWork(await witness.nowMs());
    await until('it has just refreshed', AT_WORK_MS, async () => {
      const last = (await witness.deedsOf(first.name)).filter(({ deed }) => deed === 'refresh').at(-1);
      return (await witness.nowMs()) - (last?.atMs ?? 0) < 300;
    });
    const frozenAt = await witness.nowMs();
    first.freeze();
    const second = await leaderAtWork(frozenAt + 500);
    expect(second).not.toBe(first);
    expect(leadsAfterMs(second, frozenAt)).toBeLessThan(TAKEOVER_MS);
    const sleepsUntil = frozenAt + ASLEEP_MS;
    await until('it has slept long enough', AT_WORK_MS, async () => (await witness.nowMs()) > sleepsUntil);

    const wokenAt = await witness.nowMs();
    first.thaw();
    await until('it knows', AT_WORK_MS, () => timesSaid(first, LEADS_NO_LONGER, wokenAt) === 1);
    await until('the other goes on', AT_WORK_MS, () => hasWorked(second, wokenAt, 4));
    expect(await witness.deedsOf(first.name, wokenAt)).toEqual([]);
    expect(timesSaid(second, LEADS_NO_LONGER, frozenAt)).toBe(0);
  });
});

/** A fetch that fails for another reason than the one before is told in the log of the instance that made it. */
function failDifferentlyEachTime(server: JwksServer): void {
  let turn = 0;
  server.answerWith((response, request) => status(500 + (++turn % 2))(response, request));
}

/** How often an instance has logged this since a moment. */
function timesSaid(instance: ServiceInstance, message: string, sinceMs = 0): number {
  const since = new Date(sinceMs).toISOString();
  return instance.log().filter(({ msg, time }) => msg === message && String(time) >= since).length;
}

/** How long after a moment an instance said that it leads, in milliseconds. */
function leadsAfterMs(instance: ServiceInstance, sinceMs: number): number {
  const since = new Date(sinceMs).toISOString();
  const line = instance.log().find(({ msg, time }) => msg === LEADS_NOW && String(time) >= since);
  return Date.parse(String(line?.time)) - sinceMs;
}
