// Checks that one of several candidates on a PostgreSQL database leads, and that another one soon takes over.
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { AdvisoryLockLeader } from '../../src/platform/jobs/advisory-lock.leader.js';
import { createLogger } from '../../src/platform/log/logger.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnPostgresql } from '../support/databases.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

/** A takeover needs a few seconds on an idle machine. */
const TAKEOVER_MS = 60_000;
const NOBODY = -1;
const warnings: string[] = [];
const logger = createLogger('warn', { write: (line) => void warnings.push(line) });
/** How often a candidate has logged the loss of leadership. Another may already lead when the test checks. */
const losses = () => warnings.filter((line) => line.includes('no longer the leader')).length;

describeOnPostgresql('[D94] the leader', (database) => {
  let candidates: AdvisoryLockLeader[] = [];
  let proxies: TcpProxy[] = [];
  let election: Election;

  beforeEach(() => {
    election = new Election(() => candidates);
    warnings.length = 0;
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

  it('[D94] is the first of three candidates, and is the only one with the lock', async () => {
    await join();
    await Promise.all([join(), join()]);
    expect(candidates.map(({ isLeader }) => isLeader)).toEqual([true, false, false]);
    expect(await lockHolders(database)).toHaveLength(1);
    await delay(4_000);
    expect(election.leader()).toBe(0);
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D94] hands over when it stops', async () => {
    const first = await join();
    await join();
    const endedByServer = await sessionsEndedByServer(database);
    const stopping = first.stop();
    expect(first.isLeader).toBe(false);
    await election.until((leader) => leader === 1, TAKEOVER_MS);
    await stopping;
    expect(election.mostAtOnce).toBe(1);
    // Otherwise the lock would have become free by the limit of a silent session, seconds later.
    expect(await sessionsEndedByServer(database)).toBe(endedByServer);
  });

  it('[D94][D98] detects that its session was killed, and a leader is elected again', async () => {
    await join();
    await Promise.all([join(), join()]);
    await killLockHolder(database);
    await until('it knows', TAKEOVER_MS, () => losses() === 1);
    await election.until((leader) => leader !== NOBODY, TAKEOVER_MS);
    expect(await lockHolders(database)).toHaveLength(1);
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D94] is replaced when its packets are dropped, and does not lead again when they arrive', async () => {
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
    expect(election.leaders()).toEqual([0, 1]);
    expect(election.mostAtOnce).toBe(1);
  });

  it('[D94] can be a candidate that could not reach the database at startup and kept trying', async () => {
    const proxy = await openProxy();
    proxy.silence();
    const candidate = await join(proxy.url);
    expect(candidate.isLeader).toBe(false);
    proxy.resume();
    await election.until((leader) => leader === 0, TAKEOVER_MS);
  });

  it('[D94] stops within a few seconds even if the network is silent', async () => {
    const proxy = await openProxy();
    const first = await join(proxy.url);
    proxy.silence();
    await first.stop();
    expect(first.isLeader).toBe(false);
  });
});

/** Watches the candidates as long as a test runs. */
class Election {
  mostAtOnce = 0;
  /** The indexes of the leaders in their order. */
  readonly changes: number[] = [NOBODY];
  private readonly timer = setInterval(() => this.look(), 2);

  constructor(private readonly candidates: () => AdvisoryLockLeader[]) {}

  /** Leaves out moments without a leader, because the checks may miss them. */
  leaders(): number[] {
    return this.changes.filter((leader) => leader !== NOBODY);
  }

  leader(): number {
    return this.candidates().findIndex(({ isLeader }) => isLeader);
  }

  async until(condition: (leader: number) => boolean, limitMs: number): Promise<void> {
    // It waits for recorded changes. Unrecorded ones would not be in `changes`.
    await until('the leader is as expected', limitMs, () => condition(this.look()));
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

/** The sessions that hold an advisory lock of this database. */
async function lockHolders(database: TestDatabase): Promise<number[]> {
  const rows = await query<{ pid: number }>(
    urlOf(database),
    `SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND datname = current_database()`,
  );
  return rows.map(({ pid }) => pid);
}

/** How many sessions of the database the server has ended with an error, as it does after `idle_session_timeout`. */
async function sessionsEndedByServer(database: TestDatabase): Promise<number> {
  const rows = await query<{ ended: number }>(
    urlOf(database),
    'SELECT sessions_fatal::int AS ended FROM pg_stat_database WHERE datname = current_database()',
  );
  return rows[0]?.ended ?? Number.NaN;
}

async function killLockHolder(database: TestDatabase): Promise<void> {
  const ended = await query(
    urlOf(database),
    `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND datname = current_database()`,
  );
  expect(ended).toHaveLength(1);
}
