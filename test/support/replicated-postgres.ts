// Runs a PostgreSQL primary and its synchronous standby, and lets the one fail and the other take its place.
import { randomBytes } from 'node:crypto';
import { PostgresServer, STANDBY_NAME, TEST_SETTINGS } from '../../bench/support/postgres-server.mjs';
import { freePort } from '../../demo/free-port.js';
import { SCHEMA } from '../../src/instance/schema.js';
import { openDatabase } from '../../src/platform/database/data-source.js';
import { until } from './until.js';

const DATABASE = 'service';
/** A server that is busy with other files' databases may take its time. */
const REPLICATES_WITHIN_MS = 60_000;
const SETTINGS = {
  ...TEST_SETTINGS,
  // Such memory lies in the cluster's folder, so that nothing is left of a server that was killed.
  dynamic_shared_memory_type: 'mmap',
  max_wal_senders: '4',
  wal_keep_size: '64MB',
  // Both servers retry after this time, so that tests do not wait long for a standby that comes back.
  wal_retrieve_retry_interval: '200ms',
};

/** Two servers; of each commit that the primary answers the standby has everything on its disk. */
export class ReplicatedPostgres {
  private readonly encryptionKey = randomBytes(32).toString('base64');
  private readonly servers: PostgresServer[] = [];
  private currentPrimary: PostgresServer | undefined;
  private currentStandby: PostgresServer | undefined;

  /** Starts both, with one migrated database; no commit is answered from then on that the standby does not have. */
  static async start(): Promise<ReplicatedPostgres> {
    const pair = new ReplicatedPostgres();
    try {
      pair.currentPrimary = pair.keep(await PostgresServer.start(freePort, SETTINGS));
      await pair.primary.query('postgres', `CREATE DATABASE ${DATABASE}`);
      const { url } = pair;
      await (await openDatabase({ kind: 'postgresql', url, poolSize: 2 }, SCHEMA)).close();
      await pair.attachStandby();
      return pair;
    } catch (error) {
      await pair.stop();
      throw error;
    }
  }

  get primary(): PostgresServer {
    return existing(this.currentPrimary, 'primary');
  }

  get standby(): PostgresServer {
    return existing(this.currentStandby, 'standby');
  }

  /** The address of the database on the present primary. */
  get url(): string {
    return this.urlAt(this.primary.port);
  }

  /** The database URL with another port, such as the port of a proxy in front of both servers. */
  urlAt(port: number): string {
    const url = new URL(this.primary.urlOf(DATABASE));
    url.port = String(port);
    return url.href;
  }

  /** The SVC_* variables that lead the service to the primary. */
  get environment(): Record<string, string> {
    return { SVC_DATABASE_URL: this.url, SVC_ENCRYPTION_KEY: this.encryptionKey };
  }

  /** Runs one statement on the primary. */
  query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.primary.query<Row>(DATABASE, text, values);
  }

  /** Kills all processes of the primary at once. The standby only reads until `promote`. */
  async killPrimary(): Promise<void> {
    await this.primary.kill();
  }

  /** The standby takes writes from now on, and needs no standby for it. */
  async promote(): Promise<void> {
    const { standby } = this;
    await standby.query('postgres', 'SELECT pg_promote(true, 60)');
    this.currentPrimary = standby;
    this.currentStandby = undefined;
  }

  /** Gives the primary a new standby, on the port of the server that it has replaced, and makes it wait for that from now on. */
  async attachStandby(): Promise<void> {
    const { primary } = this;
    const replaced = this.servers.find((server) => server !== primary);
    if (replaced !== undefined) await this.remove(replaced);
    const port = replaced === undefined ? freePort : () => Promise.resolve(replaced.port);
    this.currentStandby = this.keep(await PostgresServer.startStandby(primary, port, SETTINGS));
    await primary.query('postgres', `ALTER SYSTEM SET synchronous_standby_names = '${STANDBY_NAME}'`);
    await primary.query('postgres', 'SELECT pg_reload_conf()');
    await until('the standby is synchronous', REPLICATES_WITHIN_MS, () => this.isSynchronous());
  }

  async stop(): Promise<void> {
    // A primary waits for its standby before it stops. With a paused standby it would never stop.
    await Promise.all(this.servers.splice(0).map((server) => server.stop()));
  }

  private async isSynchronous(): Promise<boolean> {
    const [row] = await this.primary.query<{ sync_state: string }>(
      'postgres',
      `SELECT sync_state FROM pg_stat_replication WHERE application_name = '${STANDBY_NAME}' AND state = 'streaming'`,
    );
    return row?.sync_state === 'sync';
  }

  private keep(server: PostgresServer): PostgresServer {
    this.servers.push(server);
    return server;
  }

  private async remove(server: PostgresServer): Promise<void> {
    this.servers.splice(this.servers.indexOf(server), 1);
    await server.stop();
  }
}

function existing(server: PostgresServer | undefined, role: string): PostgresServer {
  if (server === undefined) throw new Error(`there is no ${role} at this moment`);
  return server;
}
