// Opens the embedded database: the engine with its data directory, and the one connection to it.
import type pg from 'pg';
import type { PoolConfig } from 'pg';
import type { DataSource } from 'typeorm';
import { driverPool } from './driver-pool.js';
import type { BackgroundPool } from './wait-limit.js';
import { limitWaits } from './wait-limit.js';
import { refuseCopied } from './embedded/copied-data.js';
import { DataDirectoryLock } from './embedded/data-directory.lock.js';
import { EngineSocket } from './embedded/engine-socket.js';
import { startEngineThread } from './embedded/engine-thread.js';
import type { Engine } from './embedded/engine.js';
import { startEngine } from './embedded/engine.js';
import { runMigrations } from './migrate.js';
import type { Schema, PreparedDatabase, ServingSettings } from './prepared-database.js';
import { createDataSource, disconnect, prepareSession, whenConnected } from './prepared-database.js';

/** There is one connection: a request may have to wait for all that came before it. */
const CONNECTION_WAIT_MS = 30_000;

/** Where the embedded database is. */
export interface EmbeddedSettings extends ServingSettings {
  readonly directory: string;
}

/**
 * @throws DataDirectoryLockedError when another process has the directory
 * @throws CopiedDataError when its data was copied to PostgreSQL
 */
export async function prepareEmbedded(
  { directory, requestWaitMs, engineThread }: EmbeddedSettings,
  schema: Schema,
): Promise<PreparedDatabase> {
  const lock = DataDirectoryLock.take(directory);
  try {
    refuseCopied(directory);
    const settings = { directory };
    const engine = await (engineThread === undefined
      ? startEngine(settings)
      : startEngineThread(engineThread, settings));
    const { pool, stopped } = embeddedPool(engine);
    const dataSource = createDataSource(schema, pool);
    let hasStopped = false;
    void stopped.then(() => (hasStopped = true));
    const end = async () => {
      // An engine that has stopped would never answer.
      if (!hasStopped) await disconnect(dataSource);
      if (!hasStopped) await engine.close();
      lock.release();
    };
    let ending: Promise<void> | undefined;
    const close = () => (ending ??= end());
    const limit = () => {
      if (requestWaitMs !== undefined) limitEmbedded(dataSource, requestWaitMs);
    };
    return { kind: 'embedded', dataSource, migrate: () => runMigrations(dataSource), limit, close, stopped };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** There is one connection, so only the wait for it can be limited by itself. */
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
      // Of an engine that ends the driver says it twice: by the statement, and by an event that ends a process without a listener.
      const ignore = () => undefined;
      client.on('error', ignore);
      try {
        return await client.query(text, values);
      } finally {
        client.off('error', ignore);
        client.release();
      }
    },
  };
}

/**
 * The embedded database is one session for ever. What an earlier client left in it (an open transaction, a prepared statement) is
 * cleared when the pool connects anew.
 */
function embeddedPool(engine: Engine): { pool: PoolConfig; stopped: Promise<Error> } {
  let stop: (cause: Error) => void;
  const stopped = new Promise<Error>((resolve) => (stop = resolve));
  void engine.failed.then((error) => stop(error));
  const pool: PoolConfig = {
    stream: () => new EngineSocket(engine),
    // The environment may name servers; this is none.
    ssl: false,
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: CONNECTION_WAIT_MS,
    ...whenConnected(async (client) => {
      whenPanicked(client as unknown as DriverClient, stop);
      await client.query('ROLLBACK');
      await client.query('DISCARD ALL');
      await prepareSession(client);
    }),
  };
  return { pool, stopped };
}

/** Of the driver's client: its connection hands every message of the server on. */
interface DriverClient {
  readonly connection: NodeJS.EventEmitter;
}

function whenPanicked({ connection }: DriverClient, act: (error: Error) => void): void {
  connection.on('errorMessage', (error: Error & { severity?: string }) => {
    if (error.severity === 'PANIC') act(error);
  });
}
