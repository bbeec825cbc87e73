// Runs PgBouncer from the system's packages between the service and a PostgreSQL database of the tests.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../demo/free-port.js';
import type { DatabaseSettings } from '../../src/platform/database/data-source.js';
import { TestDatabase } from './databases.js';
import { until } from './until.js';

const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 5_000;
const PROBE_MS = 5_000;

/** Settings of PgBouncer's section of its own name. */
export type PgBouncerSettings = Readonly<Record<string, string | number>>;

/** The database behind one PgBouncer of its own. */
export class DatabaseBehindPgBouncer extends TestDatabase {
  log = '';

  private constructor(
    private readonly direct: TestDatabase,
    private readonly port: number,
    private readonly folder: string,
    private readonly child: ChildProcess,
  ) {
    super('postgresql');
    const keep = (text: Buffer) => (this.log += text.toString());
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
  }

  /** @throws Error with what it has logged, where it does not lead to the database */
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
    const behind = new DatabaseBehindPgBouncer(direct, port, folder, spawn(path, [file]));
    try {
      await until('PgBouncer leads to the database', START_LIMIT_MS, () => leadsTo(behind.url));
      return behind;
    } catch (error) {
      await behind.stop();
      throw new Error(`PgBouncer does not lead to the database:\n${behind.log}`, { cause: error });
    }
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

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const patience = setTimeout(() => this.child.kill('SIGKILL'), STOP_LIMIT_MS);
      const ended = once(this.child, 'close');
      // At once, whoever is connected.
      this.child.kill('SIGTERM');
      await ended;
      clearTimeout(patience);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
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

async function leadsTo(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString, connectionTimeoutMillis: PROBE_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
