// Opens the embedded database: the engine with its data directory, and the one connection to it.
import type { PoolConfig } from 'pg';
import pg from 'pg';
import { refuseCopied, refuseForeignDirectory } from './embedded/data-directory.js';
import { DataDirectoryLock } from './embedded/data-directory.lock.js';
import type { Engine } from './embedded/engine.js';
import { startEngine } from './embedded/engine.js';
import { EngineSocket } from './embedded/engine-socket.js';
import { startEngineThread } from './embedded/engine-thread.js';
import { runMigrations } from './migrate.js';
import { directoryError } from './opening-error.js';
import type { PreparedDatabase, Schema, ServingSettings } from './prepared-database.js';
import { createDataSource, disconnect, prepareSession, whenConnected } from './prepared-database.js';

/** All statements share one connection: a command may have to wait for all earlier ones. */
const CONNECTION_WAIT_MS = 30_000;

/** Where the embedded database is. */
export interface EmbeddedSettings extends ServingSettings {
  readonly directory: string;
}

/**
 * Locks the data directory and starts the embedded engine.
 * @throws DataDirectoryLockedError if another process uses the directory
 * @throws StartError if the directory belongs to another account or cannot be written, or its data was copied
 * to PostgreSQL
 */
export async function prepareEmbedded(
  { directory, requestWaitMs, engineThread }: EmbeddedSettings,
  schema: Schema,
): Promise<PreparedDatabase> {
  refuseForeignDirectory(directory);
  const lock = lockOf(directory);
  try {
    refuseCopied(directory);
    const engine = await (engineThread === undefined
      ? startEngine(directory)
      : startEngineThread(engineThread, directory));
    const { pool, stopped } = embeddedPool(engine, requestWaitMs ?? CONNECTION_WAIT_MS);
    // The only connection stays open when a request has waited too long, so the pool is the driver's own.
    const driver = requestWaitMs === undefined ? undefined : { ...pg, limits: { waitMs: requestWaitMs } };
    const dataSource = createDataSource(schema, pool, driver);
    let hasStopped = false;
    void stopped.then(() => (hasStopped = true));
    const end = async () => {
      // A stopped engine would never answer.
      if (!hasStopped) await disconnect(dataSource);
      if (!hasStopped) await engine.close();
      lock.release();
    };
    let ending: Promise<void> | undefined;
    const close = () => (ending ??= end());
    return { kind: 'embedded', dataSource, migrate: () => runMigrations(dataSource), close, stopped };
  } catch (error) {
    lock.release();
    throw directoryError(directory, error);
  }
}

function lockOf(directory: string): DataDirectoryLock {
  try {
    return DataDirectoryLock.take(directory);
  } catch (error) {
    throw directoryError(directory, error);
  }
}

/**
 * The embedded database has one session for its whole lifetime. A new connection therefore clears what the
 * last client left: an open transaction, prepared statements.
 */
function embeddedPool(engine: Engine, waitMs: number): { pool: PoolConfig; stopped: Promise<Error> } {
  let stop: (cause: Error) => void;
  const stopped = new Promise<Error>((resolve) => (stop = resolve));
  void engine.failed.then((error) => stop(error));
  const pool: PoolConfig = {
    stream: () => new EngineSocket(engine),
    // The environment may ask for TLS, which the embedded engine does not speak.
    ssl: false,
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: waitMs,
    ...whenConnected(async (client) => {
      whenPanicked(client as unknown as DriverClient, stop);
      await client.query('ROLLBACK');
      await client.query('DISCARD ALL');
      await prepareSession(client);
    }),
  };
  return { pool, stopped };
}

/** The driver's client. Its connection emits every message of the server. */
interface DriverClient {
  readonly connection: NodeJS.EventEmitter;
}

function whenPanicked({ connection }: DriverClient, act: (error: Error) => void): void {
  connection.on('errorMessage', (error: Error & { severity?: string }) => {
    if (error.severity === 'PANIC') act(error);
  });
}
