// Opens the database, embedded or PostgreSQL, behind one TypeORM data source.
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import type { PoolConfig } from 'pg';
import type { EntitySchema, MixedList } from 'typeorm';
import { DataSource } from 'typeorm';
import { DataDirectoryLock } from './data-directory.lock.js';
import { runMigrations, runMigrationsInTurn } from './migrate.js';
import { MIGRATIONS } from './migrations/index.js';

// The embedded database has one connection: a request may have to wait for all that came before it.
const EMBEDDED_CONNECTION_WAIT_MS = 30_000;
const POSTGRESQL_CONNECTION_WAIT_MS = 10_000;

/** Which database to open. */
export type DatabaseSettings =
  { kind: 'postgresql'; url: string; poolSize: number } | { kind: 'embedded'; directory: string };

/** Entity classes, collected by the composition root. */
export type Entities = MixedList<string | EntitySchema | (new () => object)>;

/** An open database. `close` ends the data source, the embedded engine and the directory lock, in this order. */
export interface OpenDatabase {
  readonly kind: DatabaseSettings['kind'];
  readonly dataSource: DataSource;
  /** The migrations that ran when it was opened, by name; empty when the schema was up to date. */
  readonly appliedMigrations: readonly string[];
  close(): Promise<void>;
}

/**
 * Opens the database and brings its schema up to date.
 * @throws DataDirectoryLockedError when another process has the embedded directory
 */
export async function openDatabase(settings: DatabaseSettings, entities: Entities): Promise<OpenDatabase> {
  return settings.kind === 'postgresql'
    ? openPostgresql(settings, entities)
    : openEmbedded(settings, entities);
}

async function openPostgresql(
  { url, poolSize }: Extract<DatabaseSettings, { kind: 'postgresql' }>,
  entities: Entities,
): Promise<OpenDatabase> {
  const dataSource = createDataSource(entities, {
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: POSTGRESQL_CONNECTION_WAIT_MS,
    keepAlive: true,
    application_name: 'embedded-token-exchange',
  });
  await dataSource.initialize();
  const close = async () => (dataSource.isInitialized ? dataSource.destroy() : undefined);
  const appliedMigrations = await closeOnFailure(close, () => runMigrationsInTurn(dataSource, url));
  return { kind: 'postgresql', dataSource, appliedMigrations, close };
}

async function openEmbedded(
  settings: Extract<DatabaseSettings, { kind: 'embedded' }>,
  entities: Entities,
): Promise<OpenDatabase> {
  const lock = DataDirectoryLock.take(settings.directory);
  let pglite: PGlite | undefined;
  let dataSource: DataSource | undefined;
  const close = async () => {
    if (dataSource?.isInitialized) await dataSource.destroy();
    if (pglite?.closed === false) await pglite.close();
    lock.release();
  };
  const appliedMigrations = await closeOnFailure(close, async () => {
    pglite = await createPglite(settings.directory);
    dataSource = createDataSource(entities, await embeddedPool(pglite));
    await dataSource.initialize();
    return runMigrations(dataSource);
  });
  if (dataSource === undefined) throw new Error('the embedded database did not open');
  return { kind: 'embedded', dataSource, appliedMigrations, close };
}

/** Loaded only where it is used: the embedded engine is 27 MB that a PostgreSQL instance need not read. */
async function createPglite(directory: string): Promise<PGlite> {
  const { PGlite } = await import('@electric-sql/pglite');
  return PGlite.create(join(directory, 'database'));
}

/**
 * The embedded database is one session for ever. Whatever an earlier client left behind in it (an open transaction,
 * a prepared statement) is cleared when the pool connects anew.
 */
async function embeddedPool(pglite: PGlite): Promise<PoolConfig> {
  const { createPgConfig } = await import('@electric-sql/pglite/node-postgres');
  const { connection } = createPgConfig(pglite);
  return {
    // The adapter stands in for pg's own connection class, whose type is not public.
    ...({ connection } as object),
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: EMBEDDED_CONNECTION_WAIT_MS,
    ...({ onConnect: clearSession } as object),
  };
}

async function clearSession(client: { query(sql: string): Promise<unknown> }): Promise<void> {
  await client.query('ROLLBACK');
  await client.query('DISCARD ALL');
}

function createDataSource(entities: Entities, pool: PoolConfig): DataSource {
  return new DataSource({
    type: 'postgres',
    entities,
    migrations: [...MIGRATIONS],
    migrationsTableName: 'schema_migration',
    // Uniqueness decides races here; a failing statement is often an answer, so TypeORM must not log it.
    logging: false,
    installExtensions: false,
    extra: pool,
  });
}

async function closeOnFailure<T>(close: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await close();
    throw error;
  }
}
