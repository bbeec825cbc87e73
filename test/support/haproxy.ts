// Runs HAProxy from the system's packages in front of PostgreSQL servers, with the configuration that operators are given.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { findBinaries } from '../../bench/support/postgres-server.mjs';
import { freePort } from '../../demo/free-port.js';
import type { ReplicatedPostgres } from './replicated-postgres.js';
import { until } from './until.js';

const DEPLOYED = join(__dirname, '..', '..', 'deploy', 'haproxy');
const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 5_000;
const PROBE_MS = 2_000;
/** Beside the server of the tests there is its psql, or at least what leads to one. */
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

/** One HAProxy on a port of its own, which leads to the primary of two servers. */
export class HaProxy {
  log = '';

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly child: ChildProcess,
  ) {
    const keep = (text: Buffer) => (this.log += text.toString());
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
  }

  /** Resolves when it leads to the primary. @throws Error with what it has logged */
  static async start(path: string, servers: ReplicatedPostgres): Promise<HaProxy> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-test-haproxy-'));
    const port = await freePort();
    const environment = { ...checkIn(folder, servers.url), ...addressesOf(port, servers) };
    const child = spawn(path, ['-db', '-f', join(DEPLOYED, 'haproxy.cfg')], { env: environment });
    const proxy = new HaProxy(port, folder, child);
    try {
      await until('HAProxy leads to the primary', START_LIMIT_MS, () => leadsTo(servers.urlAt(port)));
      return proxy;
    } catch (error) {
      await proxy.stop();
      throw new Error(`HAProxy does not lead to the primary:\n${proxy.log}`, { cause: error });
    }
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const patience = setTimeout(() => this.child.kill('SIGKILL'), STOP_LIMIT_MS);
      const ended = once(this.child, 'close');
      this.child.kill('SIGTERM');
      await ended;
      clearTimeout(patience);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The check as an operator puts it in place: the program, and beside it as whom it asks. */
function checkIn(folder: string, url: string): Record<string, string> {
  const { username, password } = new URL(url);
  const check = join(folder, 'primary-check.sh');
  const passwords = join(folder, 'pgpass');
  copyFileSync(join(DEPLOYED, 'primary-check.sh'), check);
  chmodSync(check, 0o755);
  writeFileSync(passwords, `*:*:*:${username}:${password}\n`, { mode: 0o600 });
  writeFileSync(
    join(folder, 'primary-check.conninfo'),
    `user=${username} dbname=postgres passfile=${passwords}\n`,
  );
  return { POSTGRESQL_CHECK: check, POSTGRESQL_CHECK_PATH: `${findBinaries()}:${SYSTEM_PATH}` };
}

function addressesOf(port: number, { primary, standby }: ReplicatedPostgres): Record<string, string> {
  return {
    POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
    POSTGRESQL_ONE: `127.0.0.1:${primary.port}`,
    POSTGRESQL_TWO: `127.0.0.1:${standby.port}`,
  };
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
