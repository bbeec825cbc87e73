// Opens the database, embedded or PostgreSQL, behind one TypeORM data source.
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import type { PoolConfig } from 'pg';
import pg from 'pg';
import type { EntitySchema, MixedList } from 'typeorm';
import { DataSource } from 'typeorm';
import { driverPool } from '../token-exchange/database/driver-pool.js';
import type { BackgroundPool } from '../token-exchange/database/wait-limit.js';
import { limitPool, limitWaits, statementMs } from '../token-exchange/database/wait-limit.js';
import { DataDirectoryLock } from './data-directory.lock.js';
import { forceAll, forcedFiles, forcingStartParams } from './forced-writes.js';
import { MIGRATIONS_TABLE, isUpToDate, runMigrations, runMigrationsInTurn } from './migrate.js';
import { MIGRATIONS } from './migrations/index.js';
import { TransactionPoolerError, limitedBySql, requireSessions } from './pooler.js';

// The embedded database has one connection: a request may have to wait for all that came before it.
const EMBEDDED_CONNECTION_WAIT_MS = 30_000;
/**
 * The log is kept as short as it may be. An ANALYZE, which holds all else up, reads a small sample: what
 * requests ask for is found by key.
 */
const EMBEDDED_SETTINGS = ['min_wal_size=32MB', 'max_wal_size=32MB', 'default_statistics_target=3'];
/** What runs in the background, and a command, has more time than a request. */
const POSTGRESQL_CONNECTION_WAIT_MS = 10_000;
const KEEPALIVE_DELAY_MS = 10_000;
const LOCK_WAIT_MS = 5_000;
const STATEMENT_MS = 10_000;
const ANSWER_MS = 15_000;
/** A connection that is prepared is given up so much later than a request waits for it. */
const PREPARATION_MS = 1_000;
/** Jobs and followers ask one after the other, and seldom. */
const BACKGROUND_POOL_SIZE = 2;
/** Operators are few; whoever only knocks at their page takes no connection of anybody else. */
const OPERATOR_POOL_SIZE = 2;

/** What PostgreSQL does when it stops is told by its statements. */
const NEVER = new Promise<never>(() => undefined);

/** Which database to open. */
export type DatabaseSettings = (
  | { kind: 'postgresql'; url: string; poolSize: number }
  | {
      kind: 'embedded';
      directory: string;
      /** Whether commits are forced to the disk; they are unless this is false. */
      forcesWrites?: boolean;
    }
) & {
  /** What a request waits for in all, in milliseconds; undefined where there are none, as in commands. */
  requestWaitMs?: number;
};

/** Entity classes, collected by the composition root. */
export type Entities = MixedList<string | EntitySchema | (new () => object)>;

/** There is no connection to the database. The message has the system's code for the cause, and no part of the URL. */
export class DatabaseUnavailableError extends Error {
  constructor(cause: unknown) {
    const { code, name } = cause as { code?: unknown; name?: unknown };
    super(
      `The database cannot be connected to (${String(code ?? name)}); check SVC_DATABASE_URL and the server.`,
    );
    this.name = 'DatabaseUnavailableError';
  }
}

/** A database that is ready to be connected to. `close` ends data source, embedded engine and lock, in this order. */
export interface PreparedDatabase {
  readonly kind: DatabaseSettings['kind'];
  /** Not connected yet. */
  readonly dataSource: DataSource;
  /** Brings the schema up to date. @returns the names of the migrations that ran */
  readonly migrate: () => Promise<string[]>;
  /** To be called once it is connected. */
  readonly limit: () => void;
  readonly close: () => Promise<void>;
  /** Where the operator's page asks; undefined: where requests do. */
  readonly operatorPool?: BackgroundPool;
  /**
   * Resolves with the cause when the embedded engine has stopped for good, as PostgreSQL does where it cannot write its log: its
   * statements never end then, and a new start recovers what was committed.
   */
  readonly stopped: Promise<Error>;
}

/** An open database, its schema up to date. */
export interface OpenDatabase extends Pick<
  PreparedDatabase,
  'kind' | 'dataSource' | 'operatorPool' | 'close' | 'stopped'
> {
  /** The migrations that ran when it was opened, by name; empty when the schema was up to date. */
  readonly appliedMigrations: readonly string[];
}

/**
 * Opens the database and brings its schema up to date.
 * @throws DataDirectoryLockedError when another process has the embedded directory
 * @throws DatabaseUnavailableError when it cannot be connected to
 * @throws TransactionPoolerError when a pooler lends it for one transaction at a time
 */
export async function openDatabase(settings: DatabaseSettings, entities: Entities): Promise<OpenDatabase> {
  const prepared = await prepareDatabase(settings, entities);
  const { kind, dataSource, operatorPool, migrate, limit, close, stopped } = prepared;
  try {
    await connect(dataSource);
    await checkSessions(settings);
    const appliedMigrations = (await isUpToDate(dataSource)) ? [] : await migrate();
    limit();
    return { kind, dataSource, operatorPool, appliedMigrations, close, stopped };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Prepares the data source without connecting, for openDatabase and TypeORM's command line.
 * @throws DataDirectoryLockedError when another process has the embedded directory
 */
export function prepareDatabase(settings: DatabaseSettings, entities: Entities): Promise<PreparedDatabase> {
  return settings.kind === 'postgresql'
    ? Promise.resolve(preparePostgresql(settings, entities))
    : prepareEmbedded(settings, entities);
}

function preparePostgresql(
  { url, poolSize, requestWaitMs }: Extract<DatabaseSettings, { kind: 'postgresql' }>,
  entities: Entities,
): PreparedDatabase {
  const pool: PoolConfig = {
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: POSTGRESQL_CONNECTION_WAIT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
    // It must end, whatever the database waits for; the client gives up last, where the server is silent.
    lock_timeout: LOCK_WAIT_MS,
    statement_timeout: STATEMENT_MS,
    idle_in_transaction_session_timeout: STATEMENT_MS,
    query_timeout: ANSWER_MS,
    application_name: 'embedded-token-exchange',
    ...whenConnected(planOnce),
  };
  if (requestWaitMs !== undefined) return preparePools(pool, requestWaitMs, entities);
  const dataSource = createDataSource(entities, pool);
  const migrate = () => migrateInTurn(url, entities);
  const limit = () => undefined;
  return {
    kind: 'postgresql',
    dataSource,
    migrate,
    limit,
    close: () => disconnect(dataSource),
    stopped: NEVER,
  };
}

/** A pool for requests, a small one with the same limits for the operator's page, and one with longer limits for what runs in the background. */
function preparePools(background: PoolConfig, waitMs: number, entities: Entities): PreparedDatabase {
  const { connectionString: url = '' } = background;
  const ofRequests = {
    ...background,
    lock_timeout: statementMs(waitMs),
    statement_timeout: statementMs(waitMs),
    // After a stall the wait begins anew (`afterWaiting`): that timer, which knows of stalls, has to be the first.
    query_timeout: 2 * waitMs + PREPARATION_MS,
  };
  const dataSource = createDataSource(entities, ofRequests);
  const pool = poolBeside(background, BACKGROUND_POOL_SIZE);
  const operatorPool = poolBeside(ofRequests, OPERATOR_POOL_SIZE);
  limitPool(operatorPool, waitMs);
  const close = async () => {
    await disconnect(dataSource);
    await Promise.all([pool.end(), operatorPool.end()]);
  };
  const limit = () => limitWaits(dataSource, { waitMs, background: pool });
  return {
    kind: 'postgresql',
    dataSource,
    migrate: () => migrateInTurn(url, entities),
    limit,
    close,
    operatorPool,
    stopped: NEVER,
  };
}

function poolBeside(config: PoolConfig, max: number): pg.Pool {
  const pool = new pg.Pool(limitedBySql({ ...config, max }));
  // An idle connection that breaks is replaced; without a listener it would end the process.
  pool.on('error', () => undefined);
  return pool;
}

function migrateInTurn(url: string, entities: Entities): Promise<string[]> {
  return runMigrationsInTurn(createDataSource(entities, { connectionString: url, max: 2 }));
}

async function prepareEmbedded(
  { directory, requestWaitMs, forcesWrites = true }: Extract<DatabaseSettings, { kind: 'embedded' }>,
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

async function connect(dataSource: DataSource): Promise<void> {
  try {
    await dataSource.initialize();
  } catch (error) {
    throw new DatabaseUnavailableError(error);
  }
}

/** Behind a pooler that keeps no sessions statements would fail later, and now and then. */
async function checkSessions(settings: DatabaseSettings): Promise<void> {
  if (settings.kind === 'embedded') return;
  try {
    await requireSessions({ connectionString: settings.url });
  } catch (error) {
    throw error instanceof TransactionPoolerError ? error : new DatabaseUnavailableError(error);
  }
}

async function disconnect(dataSource: DataSource): Promise<void> {
  if (dataSource.isInitialized) await dataSource.destroy();
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

/** Nobody gets a connection before it is prepared: the pool waits for the promise, which its types do not say. */
function whenConnected(prepare: (client: SqlClient) => Promise<void>): object {
  return { onConnect: prepare };
}

interface SqlClient {
  query(sql: string): Promise<unknown>;
}

/**
 * A prepared statement is planned once per connection. PostgreSQL would plan it anew for each batch, whose size might
 * matter; here it never does, since everything is found by key.
 *
 * A plan that was made when a table was empty must do when it has grown, so it does not read the table where there is a key.
 * Where there is none, PostgreSQL writes down a cost for that beyond all measure, for which it would compile the statement.
 */
async function planOnce(client: SqlClient): Promise<void> {
  await client.query(
    `SELECT set_config('plan_cache_mode', 'force_generic_plan', false), set_config('enable_seqscan', 'off', false),
       set_config('jit', 'off', false)`,
  );
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

function createDataSource(entities: Entities, pool: PoolConfig): DataSource {
  return new DataSource({
    type: 'postgres',
    entities,
    migrations: [...MIGRATIONS],
    migrationsTableName: MIGRATIONS_TABLE,
    // An index on a large table is built outside any transaction, so that others can write meanwhile.
    migrationsTransactionMode: 'each',
    // Uniqueness decides races here; a failing statement is often an answer, so TypeORM must not log it.
    logging: false,
    installExtensions: false,
    extra: limitedBySql(pool),
  });
}
