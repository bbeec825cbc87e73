// Runs PgBouncer from the system's packages between the service and a PostgreSQL database of the tests.
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../demo/free-port.js';
import type { DatabaseSettings } from '../../../src/platform/database/data-source.js';
import { TestDatabase } from '../../support/databases.js';
import { answersQueries, RunningProgram } from '../../support/system-program.js';

/** Settings of PgBouncer's section of its own name. */
export type PgBouncerSettings = Readonly<Record<string, string | number>>;

/** The database behind one PgBouncer of its own. */
export class DatabaseBehindPgBouncer extends TestDatabase {
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
