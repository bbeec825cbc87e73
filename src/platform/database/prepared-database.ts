// A prepared data source, the same for both databases, and the setup of its sessions.
import type { PoolConfig } from 'pg';
import type { MigrationInterface } from 'typeorm';
import { DataSource } from 'typeorm';
import { MIGRATIONS_TABLE } from './migrate.js';
import type { ConnectionPool, LimitedDriver } from './pool.js';

/** Settings of a process that serves requests. Commands leave them out. */
export interface ServingSettings {
  /** How long a request waits in all, in milliseconds. */
  readonly requestWaitMs?: number;
  /**
   * The built `engine.worker.js`: the embedded engine then runs in its own thread and blocks no request. A
   * command runs the engine in its own thread, because it has nothing else to do.
   */
  readonly engineThread?: string;
}

/** Entities and migrations, which the composition root collects. */
export interface Schema {
  readonly entities: readonly (new () => object)[];
  /** In the order in which they run. */
  readonly migrations: readonly (new () => MigrationInterface)[];
  /** If false, a database that lacks a migration is refused. */
  readonly mayMigrate?: boolean;
}

/**
 * A database that is ready to connect. `close` ends the data source, then the embedded engine, then the lock.
 */
export interface PreparedDatabase {
  readonly kind: 'postgresql' | 'embedded';
  /** Not connected yet. */
  readonly dataSource: DataSource;
  /** Brings the schema up to date. @returns the names of the migrations that ran */
  readonly migrate: () => Promise<string[]>;
  readonly close: () => Promise<void>;
  /** The pool of the operator's page; undefined if the page uses the requests' pool. */
  readonly operatorPool?: ConnectionPool;
  /**
   * Resolves with the cause when the embedded engine has stopped for good, for example because PostgreSQL
   * cannot write its log. Running statements then never end. A restart recovers everything committed.
   */
  readonly stopped: Promise<Error>;
}

/** @param driver limits statements; if it is undefined, only the pool does */
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
    // An index on a large table is built outside a transaction, so that others can write meanwhile.
    migrationsTransactionMode: 'each',
    // Unique constraints decide races here. A failed statement is often expected, so TypeORM must not log it.
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
 * Settings that affect the results of statements. They replace the defaults of the database and the role.
 * - The driver reads PostgreSQL's own formats.
 * - Tables are in the schema `public`, or in a schema with the role's name.
 * - A statement sees everything committed before it began. In a stricter isolation level, a statement that waits
 *   for another transaction would fail, with all requests that share it.
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
 * A prepared statement is planned once per connection. PostgreSQL would plan it again for each batch, because
 * the batch size might matter. Here it never does: rows are found by key.
 *
 * A plan that was made for an empty table must still work when the table has grown, so it never scans a table
 * that has a key. Without a key, disabled scans have an extreme cost, for which PostgreSQL would compile the
 * statement. JIT is therefore off.
 */
const PLANNING = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' };

/** Timeouts in milliseconds; 0 sets none. */
const NO_TIMEOUTS = {
  statement_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
  idle_session_timeout: 0,
};

/** Since PostgreSQL 17. Earlier versions refuse the unknown name. */
const NO_TRANSACTION_TIMEOUT = `CASE WHEN current_setting('transaction_timeout', true) <> '0'
    THEN set_config('transaction_timeout', '0', false) END`;

interface SqlClient {
  query(question: string | { readonly text: string; readonly query_timeout?: number }): Promise<unknown>;
}

/**
 * Sets up each session with a statement before its first use. The driver would send settings while it
 * connects, and poolers refuse a connection with unknown ones.
 * @param answerMs how long to wait for the answer, in milliseconds; then the pool replaces the connection
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

/**
 * Prepares each connection before the pool lends it. The pool waits for the promise, although its types do
 * not say so.
 */
export function whenConnected(prepare: (client: SqlClient) => Promise<void>): object {
  return { onConnect: prepare };
}
