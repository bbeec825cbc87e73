// Runs HAProxy from the system's packages in front of PostgreSQL servers, with the configuration that operators are given.
import { chmodSync, copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinaries } from '../../bench/support/postgres-server.mjs';
import { freePort } from '../../demo/free-port.js';
import type { ReplicatedPostgres } from './replicated-postgres.js';
import { RunningProgram, answersQueries } from './system-program.js';

const DEPLOYED = join(__dirname, '..', '..', 'deploy', 'haproxy');
/** Beside the server of the tests there is its psql, or at least what leads to one. */
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

/** One HAProxy on a port of its own, which leads to the primary of two servers. */
export class HaProxy extends RunningProgram {
  /** Resolves when it leads to the primary. @throws Error with what it has logged */
  static async start(path: string, servers: ReplicatedPostgres): Promise<HaProxy> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-test-haproxy-'));
    const port = await freePort();
    const env = { ...checkIn(folder, servers.url), ...addressesOf(port, servers) };
    const proxy = new HaProxy(port, folder, path, env);
    await proxy.becomes('HAProxy leads to the primary', () => answersQueries(servers.urlAt(port)));
    return proxy;
  }

  private constructor(
    readonly port: number,
    folder: string,
    path: string,
    env: Record<string, string>,
  ) {
    super(folder, path, { args: ['-db', '-f', join(DEPLOYED, 'haproxy.cfg')], env });
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
