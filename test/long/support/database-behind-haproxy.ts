// A PostgreSQL primary with a synchronous standby, behind an HAProxy with the configuration that operators are given.
import { chmodSync, copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinaries } from '../../../bench/support/postgres-server.mjs';
import { freePort } from '../../../demo/free-port.js';
import type { DatabaseSettings } from '../../../src/platform/database/data-source.js';
import { buildIsMissing } from '../../support/built-service.js';
import { TestDatabase } from '../../support/databases.js';
import { describeUnless } from '../../support/describe-unless.js';
import { ReplicatedPostgres } from '../../support/replicated-postgres.js';
import { REPOSITORY } from '../../support/source-files.js';
import { answersQueries, RunningProgram, systemProgram } from '../../support/system-program.js';

const DEPLOYED = join(REPOSITORY, 'deploy', 'haproxy');
/** Beside the server of the tests there is its psql, or at least what leads to one. */
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';
const START_TIMEOUT_MS = 180_000;
const haproxy = systemProgram('haproxy');
const missing =
  process.env['TEST_POSTGRES_MISSING'] ??
  buildIsMissing ??
  (haproxy === undefined
    ? 'HAProxy is not installed (Debian: apt-get install -y --no-install-recommends haproxy)'
    : undefined);

/** The database of two servers, as the service finds it: by HAProxy's address. */
class DatabaseBehindHaProxy extends TestDatabase {
  private pair: ReplicatedPostgres | undefined;
  private proxy: RunningProgram | undefined;
  private port = 0;

  override async create(): Promise<void> {
    this.pair = await ReplicatedPostgres.start();
    this.port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), 'svc-test-haproxy-'));
    const env = { ...checkIn(folder, this.pair.url), ...addressesOf(this.port, this.pair) };
    const args = ['-db', '-f', join(DEPLOYED, 'haproxy.cfg')];
    this.proxy = new RunningProgram(folder, haproxy ?? '', { args, env });
    await this.proxy.becomes('HAProxy leads to the primary', () => answersQueries(this.url));
  }

  get servers(): ReplicatedPostgres {
    if (this.pair === undefined) throw new Error('the servers exist in hooks and tests only');
    return this.pair;
  }

  override get settings(): DatabaseSettings {
    return { kind: 'postgresql', url: this.url, poolSize: 10 };
  }

  override get environment(): Record<string, string> {
    return { ...this.servers.environment, SVC_DATABASE_URL: this.url };
  }

  override async remove(): Promise<void> {
    await this.proxy?.stop();
    await this.pair?.stop();
  }

  private get url(): string {
    return this.servers.urlAt(this.port);
  }
}

export function describeOnReplicatedPostgres(
  title: string,
  block: (database: DatabaseBehindHaProxy) => void,
): void {
  describeUnless(missing, title, () => {
    const database = new DatabaseBehindHaProxy('postgresql');
    beforeAll(() => database.create(), START_TIMEOUT_MS);
    block(database);
    afterAll(() => database.remove(), START_TIMEOUT_MS);
  });
}

/** Installs the check like an operator: the program, and the credentials that it uses. */
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
