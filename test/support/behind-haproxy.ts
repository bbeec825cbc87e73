// Declares blocks of tests on a PostgreSQL primary with a synchronous standby, behind an HAProxy that leads to the primary.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSettings } from '../../src/platform/database/data-source.js';
import { TestDatabase } from './databases.js';
import { HaProxy } from './haproxy.js';
import { ReplicatedPostgres } from './replicated-postgres.js';
import { systemProgram } from './system-program.js';

const PROGRAM = join(__dirname, '..', '..', 'dist', 'src', 'main.js');
const START_TIMEOUT_MS = 180_000;

/** The database of two servers, as the service finds it: by HAProxy's address. */
export class DatabaseBehindHaProxy extends TestDatabase {
  private pair: ReplicatedPostgres | undefined;
  private proxy: HaProxy | undefined;

  constructor(private readonly program: string) {
    super('postgresql');
  }

  override async create(): Promise<void> {
    this.pair = await ReplicatedPostgres.start();
    this.proxy = await HaProxy.start(this.program, this.pair);
  }

  get servers(): ReplicatedPostgres {
    if (this.pair === undefined) throw new Error('the servers exist in hooks and tests only');
    return this.pair;
  }

  override get settings(): DatabaseSettings {
    return { kind: 'postgresql', url: this.servers.urlAt(this.proxy?.port ?? 0), poolSize: 10 };
  }

  override get environment(): Record<string, string> {
    return { ...this.servers.environment, SVC_DATABASE_URL: this.servers.urlAt(this.proxy?.port ?? 0) };
  }

  override async remove(): Promise<void> {
    await this.proxy?.stop();
    await this.pair?.stop();
  }
}

/** Where something is missing, a skipped test in the block's place says what. */
export function describeOnReplicatedPostgres(
  title: string,
  block: (database: DatabaseBehindHaProxy) => void,
): void {
  const program = systemProgram('haproxy');
  const missing =
    process.env['TEST_POSTGRES_MISSING'] ??
    (existsSync(PROGRAM) ? undefined : `${PROGRAM} is not there; npm run build makes it`);
  describe(title, () => {
    if (missing !== undefined) return void it.skip(`skipped: ${missing}`, () => undefined);
    if (program === undefined)
      return void it.skip('skipped: HAProxy is not installed (Debian: apt-get install -y --no-install-recommends haproxy)', () =>
        undefined);
    const database = new DatabaseBehindHaProxy(program);
    beforeAll(() => database.create(), START_TIMEOUT_MS);
    block(database);
    afterAll(() => database.remove(), START_TIMEOUT_MS);
  });
}
