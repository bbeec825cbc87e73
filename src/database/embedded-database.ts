// Opens the embedded database: the engine with its data directory, and the one connection to it.
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import type pg from 'pg';
import type { PoolConfig } from 'pg';
import type { DataSource } from 'typeorm';
import { driverPool } from '../token-exchange/database/driver-pool.js';
import type { BackgroundPool } from '../token-exchange/database/wait-limit.js';
import { limitWaits } from '../token-exchange/database/wait-limit.js';
import { DataDirectoryLock } from './data-directory.lock.js';
import { forceAll, forcedFiles, forcingStartParams } from './forced-writes.js';
import { runMigrations } from './migrate.js';
import type { Entities, PreparedDatabase, RequestWait, SqlClient } from './prepared-database.js';
import { createDataSource, disconnect, planOnce, whenConnected } from './prepared-database.js';

// The embedded database has one connection: a request may have to wait for all that came before it.
const EMBEDDED_CONNECTION_WAIT_MS = 30_000;
/**
 * The log is kept as short as it may be. An ANALYZE, which holds all else up, reads a small sample: what
 * requests ask for is found by key.
 */
const EMBEDDED_SETTINGS = ['min_wal_size=32MB', 'max_wal_size=32MB', 'default_statistics_target=3'];

/** Where the embedded database is. */
export interface EmbeddedSettings extends RequestWait {
  readonly directory: string;
  /** Whether commits are forced to the disk; they are unless this is false. */
  readonly forcesWrites?: boolean;
}

/** @throws DataDirectoryLockedError when another process has the directory */
export async function prepareEmbedded(
  { directory, requestWaitMs, forcesWrites = true }: EmbeddedSettings,
  entities: Entities,
): Promise<PreparedDatabase> {
  const lock = DataDirectoryLock.take(directory);
  try {
    const pglite = await createPglite(directory, forcesWrites);
    const { pool, stopped } = await embeddedPool(pglite);
    const dataSource = createDataSource(entities, pool);
    let hasStopped = false;
    void stopped.then(() => (hasStopped = true));
    const close = async () => {
      // An engine that has stopped would never answer.
      if (!hasStopped) await disconnect(dataSource);
      if (!hasStopped && !pglite.closed) await pglite.close();
      lock.release();
    };
    const limit = () => {
      if (requestWaitMs !== undefined) limitEmbedded(dataSource, requestWaitMs);
    };
    return { kind: 'embedded', dataSource, migrate: () => runMigrations(dataSource), limit, close, stopped };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** There is one connection, so that only the wait for it can be told apart. */
function limitEmbedded(dataSource: DataSource, waitMs: number): void {
  const background = patientPool(driverPool(dataSource));
  limitWaits(dataSource, { waitMs, background }, true);
}

/** Waits for the connection as long as the pool lets it. */
function patientPool(pool: pg.Pool): BackgroundPool {
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  return {
    query: async (text, values) => {
      const client = await connect();
      try {
        return await client.query(text, values);
      } finally {
        client.release();
      }
    },
  };
}

/** Loaded only where it is used: the embedded engine is 27 MB that a PostgreSQL instance need not read. */
async function createPglite(directory: string, forcesWrites: boolean): Promise<PGlite> {
  const { PGlite } = await import('@electric-sql/pglite');
  const startParams = [...PGlite.defaultStartParams, ...EMBEDDED_SETTINGS.flatMap((each) => ['-c', each])];
  const dataDirectory = join(directory, 'database');
  if (!forcesWrites) return PGlite.create(dataDirectory, { startParams });
  const fs = await forcedFiles(dataDirectory);
  const pglite = await PGlite.create({ fs, startParams: forcingStartParams(startParams) });
  // What makes a new database, and a process that did not force writes, leaves files behind that may not be on the disk yet.
  await forceAll(dataDirectory);
  return pglite;
}

/**
 * The embedded database is one session for ever. Whatever an earlier client left behind in it (an open transaction,
 * a prepared statement) is cleared when the pool connects anew.
 */
async function embeddedPool(pglite: PGlite): Promise<{ pool: PoolConfig; stopped: Promise<Error> }> {
  const { createPgConfig } = await import('@electric-sql/pglite/node-postgres');
  const { connection } = createPgConfig(pglite);
  const stopped = new Promise<Error>((resolve) => {
    connection.on('errorMessage', (error: Error & { severity?: string }) => {
      if (error.severity === 'PANIC') resolve(error);
    });
  });
  const pool = {
    // The adapter stands in for pg's own connection class, whose type is not public.
    ...({ connection } as object),
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: EMBEDDED_CONNECTION_WAIT_MS,
    ...whenConnected(async (client) => {
      await clearSession(client, connection);
      await planOnce(client);
    }),
  };
  return { pool, stopped };
}

/** The adapter keeps for itself which statements are prepared, and must forget them with the session. */
async function clearSession(
  client: SqlClient,
  prepared: { parsedStatements: object; submittedNamedStatements: object },
): Promise<void> {
  await client.query('ROLLBACK');
  await client.query('DISCARD ALL');
  prepared.parsedStatements = {};
  prepared.submittedNamedStatements = {};
}
