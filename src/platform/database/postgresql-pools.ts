// The connection pools for PostgreSQL: for requests, for the operator's page, and for background work.
import type { PoolConfig } from 'pg';
import pg from 'pg';
import { limitedPool } from './driver-pool.js';
import { runMigrationsInTurn } from './migrate.js';
import { limitWaits } from './pool.js';
import type { PreparedDatabase, Schema, ServingSettings } from './prepared-database.js';
import { createDataSource, disconnect, prepareSession, whenConnected } from './prepared-database.js';
import { statementMs } from './wait-limit.js';

/**
 * Time limits in milliseconds: of a statement and of a lock wait at the server, and of the client's wait for
 * an answer.
 */
interface Limits {
  readonly statementMs: number;
  readonly lockMs: number;
  readonly answerMs: number;
}

/**
 * Background work and commands may take longer than requests, but must end. The client gives up last, if the
 * server is silent.
 */
const BACKGROUND: Limits = { statementMs: 10_000, lockMs: 5_000, answerMs: 15_000 };
const CONNECTION_WAIT_MS = 10_000;
const KEEPALIVE_DELAY_MS = 10_000;
/** Jobs and followers run their statements one by one, and seldom. */
const BACKGROUND_POOL_SIZE = 2;
/** Operators are few, and requests to their page must not take connections from others. */
const OPERATOR_POOL_SIZE = 2;

/** If PostgreSQL stops, its statements fail by themselves. */
const NEVER = new Promise<never>(() => undefined);

/** Settings of PostgreSQL, with the number of connections for requests. */
export interface PostgresqlSettings extends ServingSettings {
  readonly url: string;
  readonly poolSize: number;
}

export function preparePostgresql(
  { url, poolSize, requestWaitMs }: PostgresqlSettings,
  schema: Schema,
): PreparedDatabase {
  const migrate = () =>
    runMigrationsInTurn(
      createDataSource(schema, {
        connectionString: url,
        max: 2,
        ...whenConnected((client) => prepareSession(client)),
      }),
    );
  const common = { kind: 'postgresql', migrate, stopped: NEVER } as const;
  if (requestWaitMs !== undefined)
    return { ...common, ...servingPools(url, poolSize, requestWaitMs, schema) };
  const dataSource = createDataSource(schema, backgroundConfig(url, poolSize));
  return { ...common, dataSource, close: () => disconnect(dataSource) };
}

/**
 * A pool for requests, a small one with the same limits for the operator's page, and one with longer limits
 * for background work.
 */
function servingPools(url: string, poolSize: number, waitMs: number, schema: Schema) {
  const limits = { statementMs: statementMs(waitMs), lockMs: statementMs(waitMs), answerMs: waitMs };
  const background = poolBeside(new pg.Pool(backgroundConfig(url, BACKGROUND_POOL_SIZE)));
  const operatorPool = poolBeside(limitedPool(poolConfig(url, OPERATOR_POOL_SIZE, limits), waitMs));
  const dataSource = createDataSource(
    schema,
    poolConfig(url, poolSize, limits),
    limitWaits({ waitMs, background }),
  );
  const close = async () => {
    await disconnect(dataSource);
    await Promise.all([background.end(), operatorPool.end()]);
  };
  return { dataSource, close, operatorPool };
}

function backgroundConfig(url: string, max: number): PoolConfig {
  return { ...poolConfig(url, max, BACKGROUND), query_timeout: BACKGROUND.answerMs };
}

function poolConfig(url: string, max: number, { statementMs, lockMs, answerMs }: Limits): PoolConfig {
  const ofSession = {
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    // An instance that stalls in a transaction holds locks that others wait for.
    idle_in_transaction_session_timeout: statementMs,
  };
  return {
    connectionString: url,
    max,
    connectionTimeoutMillis: CONNECTION_WAIT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
    application_name: 'embedded-token-exchange',
    ...whenConnected((client) => prepareSession(client, ofSession, answerMs)),
  };
}

/** A broken idle connection is replaced. Without a listener it would end the process. */
function poolBeside(pool: pg.Pool): pg.Pool {
  return pool.on('error', () => undefined);
}
