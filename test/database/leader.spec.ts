// Checks that of several candidates on one PostgreSQL database one leads, never two, and that there soon is another.
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { createLogger } from '../../src/logging/logger.js';
import { AdvisoryLockLeader } from '../../src/token-exchange/coordination/advisory-lock.leader.js';
import { LeaderSession } from '../../src/token-exchange/coordination/leader-session.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnPostgresql } from '../support/databases.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const TAKEOVER_MS = 15_000;
const NOBODY = -1;
const logger = createLogger('silent');

describeOnPostgresql('[D36] the leader', (database) => {
  let candidates: AdvisoryLockLeader[] = [];
  let proxies: TcpProxy[] = [];
  let election: Election;

  beforeEach(() => {
    election = new Election(() => candidates);
  });

  afterEach(async () => {
    election.end();
    await Promise.all(candidates.map((candidate) => candidate.stop()));
    await Promise.all(proxies.map((proxy) => proxy.close()));
    candidates = [];
    proxies = [];
  });

  const openProxy = async () => {
    const proxy = await TcpProxy.open(urlOf(database));
    proxies.push(proxy);
    return proxy;
  };
  const join = async (url = urlOf(database)) => {
    const candidate = new AdvisoryLockLeader({ connectionString: url }, logger);
    candidates.push(candidate);
    await candidate.start();
    return candidate;
  };

  it('[D36] is the first of three candidates, and it alone holds the lock', async () => {
    await join();
    await Promise.all([join(), join()]);
    expect(candidates.map(({ isLeader }) => isLeader)).toEqual([true, false, false]);
    expect(await lockHolders(database)).toHaveLength(1);
    await delay(4_000);
    expect(election.leader()).toBe(0);
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D36] is one of eight that apply at the same moment', async () => {
    await Promise.all(Array.from({ length: 8 }, () => join()));
    await election.until((leader) => leader !== NOBODY, TAKEOVER_MS);
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D36] hands over at once when it stops', async () => {
    const first = await join();
    await join();
    const stopping = first.stop();
    expect(first.isLeader).toBe(false);
    await election.until((leader) => leader === 1, 1_000);
    await stopping;
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D36] knows at once that its session was killed, and soon there is a leader again', async () => {
    const first = await join();
    await Promise.all([join(), join()]);
    await killLockHolder(database);
    await election.until((leader) => leader === NOBODY, 1_000);
    expect(first.isLeader).toBe(false);
    await election.until((leader) => leader !== NOBODY, TAKEOVER_MS);
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D36] is replaced within 15 s when its connection ends and it does not come back', async () => {
    const proxy = await openProxy();
    await join(proxy.url);
    await join();
    await proxy.close();
    await election.until((leader) => leader === 1, TAKEOVER_MS);
    expect(election.changes).toEqual([NOBODY, 0, NOBODY, 1]);
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D36] is replaced within 15 s when its packets are dropped, and does not lead again when they arrive', async () => {
    const proxy = await openProxy();
    await join(proxy.url);
    await join();
    expect(election.leader()).toBe(0);
    proxy.silence();
    await election.until((leader) => leader === 1, TAKEOVER_MS);
    proxy.resume();
    await delay(2_000);
    expect(election.leader()).toBe(1);
    expect(await lockHolders(database)).toHaveLength(1);
    expect(election.changes).toEqual([NOBODY, 0, NOBODY, 1]);
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D36] is replaced within 15 s though the database will not end its session for another account', async () => {
    const account = await createAccount(database);
    const proxy = await openProxy();
    const first = await join(proxy.url);
    await join(account);
    proxy.silence();
    await election.until((leader) => leader === 1, TAKEOVER_MS);
    expect(first.isLeader).toBe(false);
    // The silent session still has the lock; once it is gone the new leader gets it.
    expect(await lockHolders(database)).toEqual([new URL(urlOf(database)).username]);
    proxy.resume();
    await within(5_000, async () => (await lockHolders(database)).join() === new URL(account).username);
    expect(election.leader()).toBe(1);
  });

  it('[D36] is a candidate that did not reach the database at its start and goes on trying', async () => {
    const proxy = await openProxy();
    proxy.silence();
    const candidate = await join(proxy.url);
    expect(candidate.isLeader).toBe(false);
    proxy.resume();
    await election.until((leader) => leader === 0, TAKEOVER_MS);
  });

  it('[D97] stays the same when the clock of the database is set an hour ahead: two never lead', async () => {
    await join();
    await join();
    await setDatabaseClock(database, 3_600);
    // A candidate looks at the lease while it seems to have run out, and at the next renewal it has not.
    await delay(4_000);
    expect(election.changes).toEqual([NOBODY, 0]);
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D97] is replaced soon though the clock of the database was set an hour back', async () => {
    const proxy = await openProxy();
    await join(proxy.url);
    await join();
    await proxy.close();
    await setDatabaseClock(database, -3_600);
    await election.until((leader) => leader === 1, 2 * TAKEOVER_MS);
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D94] keeps its session, and warns of nothing, while it waits for what the leader of before has begun', async () => {
    const url = urlOf(database);
    await query(url, 'DELETE FROM token_exchange_leader_lease');
    await query(
      url,
      `INSERT INTO token_exchange_leader_lease (epoch, candidate, expires_at)
       VALUES (1, '00000000-0000-4000-8000-000000000001', now() - interval '1 minute')`,
    );
    const former = new Client({ connectionString: url });
    await former.connect();
    const warnings: unknown[] = [];
    const log = { ...logger, info: () => undefined, warn: (...said: unknown[]) => void warnings.push(said) };
    const candidate = new AdvisoryLockLeader({ connectionString: url }, log);
    candidates.push(candidate);
    try {
      await former.query('BEGIN');
      await former.query('SELECT FROM token_exchange_leader_lease FOR KEY SHARE');
      const starting = candidate.start();
      const waits = new Map<string, unknown>();
      const look = async () => {
        const rows = await query<{ pid: number; at: string }>(
          url,
          `SELECT pid, query_start::text AS at FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name LIKE '%leader'`,
        );
        for (const { pid, at } of rows) waits.set(at, pid);
        return waits.size > 1;
      };
      await within(60_000, look);
      expect(new Set(waits.values()).size).toBe(1);
      await former.query('COMMIT');
      await starting;
      await within(TAKEOVER_MS, async () => candidate.isLeader);
      expect(warnings).toEqual([]);
    } finally {
      await former.end();
    }
  });

  it('[D36] is stopped within a few seconds though the network is silent', async () => {
    const proxy = await openProxy();
    const first = await join(proxy.url);
    proxy.silence();
    await first.stop();
    expect(first.isLeader).toBe(false);
  });

  it('[D36] loses its session soon when its host vanishes: the server probes the connection', async () => {
    const session = await LeaderSession.open(
      { connectionString: urlOf(database) },
      {
        onLost: () => undefined,
        onLeadershipFree: () => undefined,
      },
    );
    const setting = async (name: string) => {
      const [row] = await session.query<Record<string, string>>(`SHOW ${name}`);
      return row?.[name];
    };
    expect(await setting('tcp_keepalives_idle')).toBe('4');
    expect(await setting('tcp_keepalives_interval')).toBe('2');
    expect(await setting('tcp_keepalives_count')).toBe('3');
    expect(await setting('tcp_user_timeout')).toBe('10000');
    await session.close();
  });
});

/** Watches the candidates as long as a test runs. */
class Election {
  mostAtOnce = 0;
  /** Who led, one after the other: places among the candidates. */
  readonly changes: number[] = [NOBODY];
  private readonly timer = setInterval(() => this.look(), 2);

  constructor(private readonly candidates: () => AdvisoryLockLeader[]) {}

  leader(): number {
    return this.candidates().findIndex(({ isLeader }) => isLeader);
  }

  async until(condition: (leader: number) => boolean, limitMs: number): Promise<void> {
    // It waits for what was recorded, not for what it sees between two looks: otherwise it might know more than `changes`.
    await within(limitMs, async () => condition(this.look()));
  }

  end(): void {
    clearInterval(this.timer);
  }

  private look(): number {
    const leaders = this.candidates().filter(({ isLeader }) => isLeader);
    this.mostAtOnce = Math.max(this.mostAtOnce, leaders.length);
    const leader = this.leader();
    if (leader !== this.changes.at(-1)) this.changes.push(leader);
    return leader;
  }
}

async function within(limitMs: number, condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`it did not happen within ${limitMs} ms`);
    await delay(5);
  }
}

function urlOf({ settings }: TestDatabase): string {
  if (settings.kind !== 'postgresql') throw new Error('the leader is elected on PostgreSQL only');
  return settings.url;
}

async function query<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** The accounts of the sessions that hold an advisory lock of this database. */
async function lockHolders(database: TestDatabase): Promise<string[]> {
  const rows = await query<{ usename: string }>(
    urlOf(database),
    `SELECT usename FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND datname = current_database()`,
  );
  return rows.map(({ usename }) => usename);
}

/** As if it had been set since the last renewal: the lease runs out so much sooner, or later. */
async function setDatabaseClock(database: TestDatabase, aheadSeconds: number): Promise<void> {
  await query(
    urlOf(database),
    `UPDATE token_exchange_leader_lease SET expires_at = expires_at - interval '1 second' * (${aheadSeconds})`,
  );
}

async function killLockHolder(database: TestDatabase): Promise<void> {
  const ended = await query(
    urlOf(database),
    `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND datname = current_database()`,
  );
  expect(ended).toHaveLength(1);
}

/** @returns the database's URL for an account that may use the lease, but not end sessions of others */
async function createAccount(database: TestDatabase): Promise<string> {
  const url = new URL(urlOf(database));
  const name = url.pathname.slice(1).replace('test', 'account');
  await query(
    url.href,
    `CREATE ROLE ${name} LOGIN PASSWORD 'apart'; GRANT ALL ON token_exchange_leader_lease TO ${name}`,
  );
  url.username = name;
  url.password = 'apart';
  return url.href;
}
