// Checks that of several candidates on one PostgreSQL database one leads, never two, and that there soon is another.
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { AdvisoryLockLeader } from '../../src/database/advisory-lock.leader.js';
import { LeaderSession } from '../../src/database/leader-session.js';
import { createLogger } from '../../src/logging/logger.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnPostgresql } from '../support/databases.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const TAKEOVER_MS = 15_000;
const logger = createLogger('silent');

describeOnPostgresql('[D36] the leader', (database) => {
  let candidates: AdvisoryLockLeader[] = [];
  let election: Election;

  beforeEach(() => {
    election = new Election(() => candidates);
  });

  afterEach(async () => {
    election.end();
    await Promise.all(candidates.map((candidate) => candidate.stop()));
    candidates = [];
  });

  const join = async (url = urlOf(database)) => {
    const candidate = new AdvisoryLockLeader(url, logger);
    candidates.push(candidate);
    await candidate.start();
    return candidate;
  };

  it('[D36] is the first of three candidates, and it alone holds the lock', async () => {
    const first = await join();
    await Promise.all([join(), join()]);
    expect(candidates.map(({ isLeader }) => isLeader)).toEqual([true, false, false]);
    expect(await lockHolders(database)).toHaveLength(1);
    await delay(4_000);
    expect(election.leader()).toBe(first);
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D36] is one of eight that apply at the same moment', async () => {
    await Promise.all(Array.from({ length: 8 }, () => join()));
    await election.until((leader) => leader !== undefined, TAKEOVER_MS);
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D36] hands over at once when it stops', async () => {
    const first = await join();
    const second = await join();
    const stopping = first.stop();
    expect(first.isLeader).toBe(false);
    await election.until((leader) => leader === second, 1_000);
    await stopping;
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D36] is replaced after its session is killed, and knows of its loss first', async () => {
    const first = await join();
    await Promise.all([join(), join()]);
    await killLockHolder(database);
    await election.until((leader) => leader === undefined, 1_000);
    expect(first.isLeader).toBe(false);
    await election.until((leader) => leader !== undefined, TAKEOVER_MS);
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D36] is replaced within 15 s when its packets are dropped, and does not lead again when they arrive', async () => {
    const proxy = await TcpProxy.open(urlOf(database));
    const first = await join(proxy.url);
    const second = await join();
    expect(election.leader()).toBe(first);
    proxy.silence();
    await election.until((leader) => leader === second, TAKEOVER_MS);
    proxy.resume();
    await delay(2_000);
    expect(election.leader()).toBe(second);
    expect(await lockHolders(database)).toHaveLength(1);
    expect(election.mostAtOnce).toBe(1);
    expect(election.changes).toEqual([first, undefined, second]);
    await proxy.close();
  });

  it('[D36] is replaced within 15 s though the database will not end its session for another account', async () => {
    const account = await createAccount(database);
    const proxy = await TcpProxy.open(urlOf(database));
    const first = await join(proxy.url);
    const second = await join(account);
    proxy.silence();
    await election.until((leader) => leader === second, TAKEOVER_MS);
    expect(first.isLeader).toBe(false);
    // The silent session still has the lock; once it is gone the new leader gets it.
    await proxy.close();
    await within(5_000, async () => (await lockHolders(database)).join() === new URL(account).username);
    expect(election.leader()).toBe(second);
  });

  it('[D36] is one that comes later when the database is away at the start', async () => {
    const proxy = await TcpProxy.open(urlOf(database));
    const { url } = proxy;
    await proxy.close();
    const candidate = await join(url);
    expect(candidate.isLeader).toBe(false);
    await candidate.stop();
    expect(candidate.isLeader).toBe(false);
  });

  it('[D36] loses its session soon when its host vanishes: the server probes the connection', async () => {
    const session = await LeaderSession.open(urlOf(database), { onLost: () => undefined, onLeadershipFree: () => undefined });
    const setting = async (name: string) => {
      const [row] = await session.query<Record<string, string>>(`SHOW ${name}`);
      return row?.[name];
    };
    expect(await setting('tcp_keepalives_idle')).toBe('4');
    expect(await setting('tcp_keepalives_interval')).toBe('2');
    expect(await setting('tcp_keepalives_count')).toBe('3');
    expect(await setting('tcp_user_timeout')).toBe('10s');
    await session.close();
  });
});

/** Watches the candidates as long as a test runs. */
class Election {
  mostAtOnce = 0;
  /** Who led, one after the other; undefined where nobody did. */
  readonly changes: (AdvisoryLockLeader | undefined)[] = [];
  private readonly timer = setInterval(() => this.look(), 2);

  constructor(private readonly candidates: () => AdvisoryLockLeader[]) {}

  leader(): AdvisoryLockLeader | undefined {
    return this.candidates().find(({ isLeader }) => isLeader);
  }

  async until(condition: (leader: AdvisoryLockLeader | undefined) => boolean, limitMs: number): Promise<void> {
    await within(limitMs, async () => condition(this.leader()));
  }

  end(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    const leaders = this.candidates().filter(({ isLeader }) => isLeader);
    this.mostAtOnce = Math.max(this.mostAtOnce, leaders.length);
    if (this.changes.length === 0 || this.changes.at(-1) !== leaders[0]) this.changes.push(leaders[0]);
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
  await query(url.href, `CREATE ROLE ${name} LOGIN PASSWORD 'apart'; GRANT ALL ON leader_lease TO ${name}`);
  url.username = name;
  url.password = 'apart';
  return url.href;
}
