// A prepared data source, the same for both databases, and how its sessions are set up.
import type { PoolConfig } from 'pg';
import type { MigrationInterface } from 'typeorm';
import { DataSource } from 'typeorm';
import { MIGRATIONS_TABLE } from './migrate.js';
import type { LimitedDriver } from './limited-driver.js';
import type { ConnectionPool } from './pool.js';

/** What a process that serves requests sets, and a command does not. */
export interface ServingSettings {
  /** How long a request waits in all, in milliseconds. */
  readonly requestWaitMs?: number;
  /**
   * The built `engine.worker.js`, by which the embedded engine has a thread of its own and holds no request up that does not need it.
   * A command, which has nothing else to do, runs it in its own.
   */
  readonly engineThread?: string;
}

/** Entities and migrations, collected by the composition root. */
export interface Schema {
  readonly entities: readonly (new () => object)[];
  /** In the order in which they run. */
  readonly migrations: readonly (new () => MigrationInterface)[];
  /** False: a database that lacks a migration is not opened. */
  readonly mayMigrate?: boolean;
}

/** A database that is ready to be connected to. `close` ends data source, embedded engine and lock, in this order. */
export interface PreparedDatabase {
  readonly kind: 'postgresql' | 'embedded';
  /** Not connected yet. */
  readonly dataSource: DataSource;
  /** Brings the schema up to date. @returns the names of the migrations that ran */
  readonly migrate: () => Promise<string[]>;
  readonly close: () => Promise<void>;
  /** Where the operator's page asks; undefined: where requests do. */
  readonly operatorPool?: ConnectionPool;
  /**
   * Resolves with the cause when the embedded engine has stopped for good, as PostgreSQL does where it cannot write its log: its
   * statements never end then, and a new start recovers what was committed.
   */
  readonly stopped: Promise<Error>;
}

/** @param driver undefined: statements have the limits of the pool alone */
export function createDataSource(
  { entities, migrations }: Schema,
  pool: PoolConfig,
  driver?: LimitedDriver,
): DataSource {
  return new DataSource({
    type: 'postgres',
    entities: [...entities],
    migrations: [...migrations],
    migrationsTableName: MIGRATIONS_TABLE,
    // An index on a large table is built outside any transaction, so that others can write meanwhile.
    migrationsTransactionMode: 'each',
    // Uniqueness decides races here; a failing statement is often an answer, so TypeORM must not log it.
    logging: false,
    installExtensions: false,
    extra: pool,
    driver,
  });
}

export async function disconnect(dataSource: DataSource): Promise<void> {
  if (dataSource.isInitialized) await dataSource.destroy();
}

/**
 * What the results of statements depend on, whatever the defaults of the database and the role are. The driver reads PostgreSQL's own
 * formats, tables are in the schema `public` (or in one with the role's name), and a statement sees what was committed before it
 * began: in a stricter isolation level the statement that waits for another transaction fails, with all requests that share it.
 */
const RESULTS = {
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  extra_float_digits: '1',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  search_path: '"$user", public',
  default_transaction_isolation: 'read committed',
};

/**
 * A prepared statement is planned once per connection. PostgreSQL would plan it anew for each batch, whose size might
 * matter; here it never does, since everything is found by key.
 *
 * A plan that was made when a table was empty must do when it has grown, so it does not read the table where there is a key.
 * Where there is none, PostgreSQL writes down a cost for that beyond all measure, for which it would compile the statement.
 */
const PLANNING = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' };

/** Timeouts in milliseconds; 0 sets none. */
const NO_TIMEOUTS = {
  statement_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
  idle_session_timeout: 0,
};

/** Since PostgreSQL 17. Earlier versions refuse a name that they do not know. */
const NO_TRANSACTION_TIMEOUT = `CASE WHEN current_setting('transaction_timeout', true) <> '0'
    THEN set_config('transaction_timeout', '0', false) END`;

interface SqlClient {
  query(question: string | { readonly text: string; readonly query_timeout?: number }): Promise<unknown>;
}

/**
 * Sets each session up with a statement before its first use. The driver would send settings while it connects, and poolers refuse
 * a connection for those that they do not know.
 * @param answerMs without an answer for so long the connection is given up, and another takes its place in the pool
 */
export async function prepareSession(
  client: SqlClient,
  limits: Record<string, number> = {},
  answerMs?: number,
): Promise<void> {
  const settings = Object.entries({ ...RESULTS, ...PLANNING, ...NO_TIMEOUTS, ...limits });
  const calls = settings.map(([name, value]) => `set_config('${name}', '${value}', false)`);
  const text = `SELECT ${[...calls, NO_TRANSACTION_TIMEOUT].join(', ')}`;
  await client.query({ text, query_timeout: answerMs });
}

/** No connection is handed out before it is prepared: the pool waits for the promise, which its types do not say. */
export function whenConnected(prepare: (client: SqlClient) => Promise<void>): object {
  return { onConnect: prepare };
}
