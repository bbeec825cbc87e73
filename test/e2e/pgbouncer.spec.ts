// The service behind PgBouncer: session pooling works. Other modes are refused at the start, with the setting to change.
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../demo/free-port.js';
import { Partner } from '../../demo/partner.js';
import { SCHEMA } from '../../src/instance/schema.js';
import type { DatabaseSettings } from '../../src/platform/database/data-source.js';
import { openDatabase } from '../../src/platform/database/data-source.js';
import { checkVersion, requireSessions } from '../../src/platform/database/pooler.js';
import { AdvisoryLockLeader } from '../../src/platform/jobs/advisory-lock.leader.js';
import { PostgresNotifications } from '../../src/platform/jobs/postgres.notifications.js';
import { createLogger } from '../../src/platform/log/logger.js';
import { describeOnPostgresql, TestDatabase } from '../support/databases.js';
import { describeUnless } from '../support/describe-unless.js';
import { answersQueries, RunningProgram, systemProgram } from '../support/system-program.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const program = systemProgram('pgbouncer');
const missing =
  program === undefined ? 'PgBouncer is not installed (Debian: apt-get install -y pgbouncer)' : undefined;
const partner = Partner.create({ issuer: 'https://partner.example' });
const SOON_MS = 60_000;

/** Settings of PgBouncer's section of its own name. */
type PgBouncerSettings = Readonly<Record<string, string | number>>;

/** The database behind one PgBouncer of its own. */
class DatabaseBehindPgBouncer extends TestDatabase {
  private constructor(
    private readonly direct: TestDatabase,
    private readonly port: number,
    private readonly program: RunningProgram,
  ) {
    super('postgresql');
  }

  /** @throws Error with its log if it does not connect to the database */
  static async start(
    path: string,
    direct: TestDatabase,
    settings: PgBouncerSettings,
  ): Promise<DatabaseBehindPgBouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-test-pgbouncer-'));
    // It does not run as root, and reads its files as another.
    chmodSync(folder, 0o755);
    const port = await freePort();
    const file = writeFiles(folder, urlOf(direct), { listen_port: port, ...settings });
    const program = new RunningProgram(folder, path, { args: [file] });
    const behind = new DatabaseBehindPgBouncer(direct, port, program);
    await program.becomes('PgBouncer leads to the database', () => answersQueries(behind.url));
    return behind;
  }

  get log(): string {
    return this.program.log;
  }

  get url(): string {
    const url = new URL(urlOf(this.direct));
    url.port = String(this.port);
    return url.href;
  }

  override get settings(): DatabaseSettings {
    return { ...this.direct.settings, url: this.url } as DatabaseSettings;
  }

  override get environment(): Record<string, string> {
    return { ...this.direct.environment, SVC_DATABASE_URL: this.url };
  }

  /** Stops at once, even with open connections. */
  stop(): Promise<void> {
    return this.program.stop();
  }
}

function describeBehindPgBouncer(
  title: string,
  settings: PgBouncerSettings,
  block: (behind: () => DatabaseBehindPgBouncer, direct: TestDatabase) => void,
): void {
  describeUnless(missing, title, () =>
    describeOnPostgresql('on PostgreSQL', (direct) => {
      let behind: DatabaseBehindPgBouncer | undefined;
      beforeAll(async () => {
        behind = await DatabaseBehindPgBouncer.start(program ?? '', direct, settings);
      });
      block(() => behind!, direct);
      afterAll(() => behind?.stop());
    }),
  );
}

// The settings of the operators' documentation; every parameter that PgBouncer does not know is refused.
const KEEPS_SESSIONS = { pool_mode: 'session', default_pool_size: 60, max_client_conn: 200 };

describeBehindPgBouncer('[D96] behind a pooler that keeps sessions', KEEPS_SESSIONS, (behind, direct) => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start(behind(), { trustedKeys: [partner.staticEntry()] });
  });
  afterAll(() => service?.stop());

  it('a login opens a session, an exchange gives a token, and no token passes twice', async () => {
    const token = partner.sign();
    const answer = await service.exchange({ subject_token: token });
    expect(answer.status).toBe(200);
    const { access_token: accessToken } = (await answer.json()) as { access_token: string };
    const me = await service.fetch('/rest/me', { headers: { authorization: `Bearer ${accessToken}` } });
    expect(me.status).toBe(200);
    expect((await service.exchange({ subject_token: token })).status).toBe(400);
    const login = await service.embed({ token: partner.sign() });
    expect(login.status).toBe(303);
    expect(login.headers.get('set-cookie')).toMatch(/^__Host-svc-session=/);
  });

  it('[D94] another leads where the network of the one before is cut', async () => {
    const network = await TcpProxy.open(behind().url);
    const [first, second] = [network.url, behind().url].map(
      (connectionString) => new AdvisoryLockLeader({ connectionString }, createLogger('silent')),
    ) as [AdvisoryLockLeader, AdvisoryLockLeader];
    await service.part(AdvisoryLockLeader).stop();
    try {
      await first.start();
      await until('the first leads', SOON_MS, () => first.isLeader);
      await second.start();
      expect([first.isLeader, second.isLeader]).toEqual([true, false]);
      network.silence();
      await until('the second leads', SOON_MS, () => second.isLeader);
      expect(first.isLeader).toBe(false);
    } finally {
      await Promise.all([first.stop(), second.stop(), network.close()]);
    }
  });

  it('announcements arrive', async () => {
    let news = 0;
    const connection = { connectionString: behind().url };
    const listening = new PostgresNotifications(connection, createLogger('silent')).listen(
      'behind_pooler',
      () => (news += 1),
    );
    try {
      await until('it listens', SOON_MS, () => news === 1);
      await announce(direct, 'behind_pooler');
      await until('it hears', SOON_MS, () => news === 2);
    } finally {
      await listening.end();
    }
  });

  it('sessions are recognized, here and at PostgreSQL itself, even by simultaneous checks', async () => {
    for (const connectionString of [behind().url, urlOf(direct)])
      await Promise.all(Array.from({ length: 10 }, () => requireSessions({ connectionString })));
  });
});

describe('[D94] a server that knows no limit for idle sessions', () => {
  it('is refused with the version that is needed, and newer ones are not', () => {
    const refusal =
      'SVC_DATABASE_URL is the address of PostgreSQL 13. The service needs PostgreSQL 14 or newer.';
    expect(() => checkVersion(130_022)).toThrow(refusal);
    for (const newer of [140_000, 150_008, 180_000]) expect(() => checkVersion(newer)).not.toThrow();
  });
});

describe('[D96] behind a pooler that lends connections for transactions', () => {
  const settings = { pool_mode: 'transaction', max_client_conn: 200 };

  describeBehindPgBouncer('and there is one connection', { ...settings, default_pool_size: 1 }, (behind) => {
    it('the start is refused', async () => {
      await expect(openDatabase(behind().settings, SCHEMA)).rejects.toThrow('Set pool_mode = session');
    });
  });

  describeBehindPgBouncer('and there are many', { ...settings, default_pool_size: 10 }, (behind) => {
    it.each([0, 1, 7])('the start is refused, with %d of them idle', async (idle) => {
      await openConnections(behind().url, idle);
      await expect(openDatabase(behind().settings, SCHEMA)).rejects.toThrow('Set pool_mode = session');
    });

    it('the start is refused while others use them', async () => {
      const load = new AbortController();
      const others = Promise.all([1, 2, 3].map(() => keepAsking(behind().url, load.signal)));
      try {
        for (let time = 0; time < 5; time += 1)
          await expect(openDatabase(behind().settings, SCHEMA)).rejects.toThrow('Set pool_mode = session');
      } finally {
        load.abort();
        await others;
      }
    });
  });
});

/** Leaves `count` idle connections in the pool, by transactions that are open at the same time. */
async function openConnections(connectionString: string, count: number): Promise<void> {
  const clients = Array.from({ length: count }, () => new Client({ connectionString }));
  for (const client of clients) {
    await client.connect();
    await client.query('BEGIN');
  }
  for (const client of clients) await client.query('COMMIT');
  for (const client of clients) await client.end();
}

async function keepAsking(connectionString: string, signal: AbortSignal): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  while (!signal.aborted) await client.query('SELECT pg_sleep(0.001)');
  await client.end();
}

async function announce(database: TestDatabase, channel: string): Promise<void> {
  const client = new Client({ connectionString: urlOf(database) });
  await client.connect();
  await client.query(`NOTIFY ${channel}`);
  await client.end();
}

function urlOf({ settings }: TestDatabase): string {
  if (settings.kind !== 'postgresql') throw new Error('PgBouncer leads to PostgreSQL only');
  return settings.url;
}

/** @returns the path of the configuration */
function writeFiles(folder: string, database: string, settings: PgBouncerSettings): string {
  const { hostname, port, username, password } = new URL(database);
  const users = join(folder, 'users.txt');
  writeFileSync(users, `"${username}" "${password}"\n`, { mode: 0o644 });
  const all = {
    listen_addr: '127.0.0.1',
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: users,
    ...(process.getuid?.() === 0 && { user: 'nobody' }),
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const file = join(folder, 'pgbouncer.ini');
  const text = `[databases]\n* = host=${hostname} port=${port}\n[pgbouncer]\n${lines.join('\n')}\n`;
  writeFileSync(file, text, { mode: 0o644 });
  return file;
}
