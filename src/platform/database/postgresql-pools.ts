// The pools of connections to PostgreSQL: for requests, for the operator's page, and for what runs in the background.
import type { PoolConfig } from 'pg';
import pg from 'pg';
import { limitPool, limitWaits, statementMs } from './wait-limit.js';
import { runMigrationsInTurn } from './migrate.js';
import { limitedBySql } from './pooler.js';
import type { Schema, PreparedDatabase, ServingSettings } from './prepared-database.js';
import { createDataSource, disconnect, prepareSession, whenConnected } from './prepared-database.js';

/** Background work and commands have more time than requests. */
const POSTGRESQL_CONNECTION_WAIT_MS = 10_000;
const KEEPALIVE_DELAY_MS = 10_000;
const LOCK_WAIT_MS = 5_000;
const STATEMENT_MS = 10_000;
const ANSWER_MS = 15_000;
/** A connection that is prepared is given up so much later than a request waits for it. */
const PREPARATION_MS = 1_000;
/** Jobs and followers ask one after the other, and seldom. */
const BACKGROUND_POOL_SIZE = 2;
/** Operators are few, and requests to their page take no connection from others. */
const OPERATOR_POOL_SIZE = 2;

/** When PostgreSQL stops, its statements fail. */
const NEVER = new Promise<never>(() => undefined);

/** PostgreSQL, and how many connections requests may have. */
export interface PostgresqlSettings extends ServingSettings {
  readonly url: string;
  readonly poolSize: number;
}

export function preparePostgresql(
  { url, poolSize, requestWaitMs }: PostgresqlSettings,
  schema: Schema,
): PreparedDatabase {
  const background: PoolConfig = {
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: POSTGRESQL_CONNECTION_WAIT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
    // It must always end; the client gives up last, if the server is silent.
    lock_timeout: LOCK_WAIT_MS,
    statement_timeout: STATEMENT_MS,
    idle_in_transaction_session_timeout: STATEMENT_MS,
    query_timeout: ANSWER_MS,
    application_name: 'embedded-token-exchange',
    ...whenConnected(prepareSession),
  };
  const migrate = () => runMigrationsInTurn(createDataSource(schema, { connectionString: url, max: 2 }));
  const common = { kind: 'postgresql', migrate, stopped: NEVER } as const;
  if (requestWaitMs !== undefined) return { ...common, ...servingPools(background, requestWaitMs, schema) };
  const dataSource = createDataSource(schema, background);
  return { ...common, dataSource, limit: () => undefined, close: () => disconnect(dataSource) };
}

/** A pool for requests, a small one with the same limits for the operator's page, and one with longer limits for what runs in the background. */
function servingPools(background: PoolConfig, waitMs: number, schema: Schema) {
  const ofRequests = {
    ...background,
    lock_timeout: statementMs(waitMs),
    statement_timeout: statementMs(waitMs),
    // An instance that stalls within a transaction holds what others wait for.
    idle_in_transaction_session_timeout: statementMs(waitMs),
    // After a stall the wait begins anew (`afterWaiting`): that timer, which knows of stalls, has to be the first.
    query_timeout: 2 * waitMs + PREPARATION_MS,
  };
  const dataSource = createDataSource(schema, ofRequests);
  const pool = poolBeside(background, BACKGROUND_POOL_SIZE);
  const operatorPool = poolBeside(ofRequests, OPERATOR_POOL_SIZE);
  limitPool(operatorPool, waitMs);
  const close = async () => {
    await disconnect(dataSource);
    await Promise.all([pool.end(), operatorPool.end()]);
  };
  const limit = () => limitWaits(dataSource, { waitMs, background: pool });
  return { dataSource, limit, close, operatorPool };
}

function poolBeside(config: PoolConfig, max: number): pg.Pool {
  const pool = new pg.Pool(limitedBySql({ ...config, max }));
  // An idle connection that breaks is replaced; without a listener it would end the process.
  pool.on('error', () => undefined);
  return pool;
}
