// Bounds what a request waits for: a connection of the pool, and everything that it asks by it.
import type { DatabaseError, Pool, PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { driverPool } from './driver-pool.js';
import { DatabaseWaitError } from './unavailable.js';

/** Below two seconds, in which the answer has to be there. */
export const DEFAULT_WAIT_MS = 1_800;
/** About what an instance can serve in that time: later ones would wait in vain. */
export const MOST_WAITING = 5_000;
/** The server gives up so much earlier where it can: then the connection serves on. */
const SERVER_LEAD_MS = 200;
const SHORTEST_STATEMENT_MS = 50;
/** A timer that is so late shows a busy process, not a slow database. */
const LATE_MS = 250;

/** The pool for background work, without the limits of requests. */
export interface BackgroundPool {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

/** How the statements of a data source are limited. */
export interface WaitLimits {
  /** How long a request waits in all, in milliseconds. */
  readonly waitMs: number;
  /** For jobs and followers, with limits of their own; undefined: they use the pool of requests. */
  readonly background?: BackgroundPool;
}

const known = new WeakMap<DataSource, WaitLimits>();

/** The limits of a data source, or those of the two flows if it has none. */
export function limitsOf(dataSource: DataSource): WaitLimits {
  return known.get(dataSource) ?? { waitMs: DEFAULT_WAIT_MS };
}

/** For how long the server may be at one statement. */
export function statementMs(waitMs: number): number {
  return Math.max(SHORTEST_STATEMENT_MS, waitMs - SERVER_LEAD_MS);
}

/**
 * Calls `act` after a time in which this process could have had an answer: one that stood still itself gives what is there
 * already a chance to be read.
 * @returns what calls it off
 */
export function afterWaiting(ms: number, act: () => void): () => void {
  const dueAtMs = performance.now() + ms;
  let timer = setTimeout(() => {
    const lateMs = performance.now() - dueAtMs;
    if (lateMs < LATE_MS) act();
    else timer = setTimeout(act, Math.min(lateMs, ms));
  }, ms);
  return () => clearTimeout(timer);
}

/**
 * Ends the wait for some work, not the work, whose later outcome is ignored.
 * @param leftMs of what the request may wait
 * @throws DatabaseWaitError `time_limit`
 */
export function withinWait<T>(leftMs: number, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = afterWaiting(Math.max(0, leftMs), () => reject(new DatabaseWaitError('time_limit')));
    work().then(resolve, reject).finally(callOff);
  });
}

/** Runs what asks the database, within what is left of one limit. */
export type SharedWait = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * For a request that asks the database several times, and does other things in between.
 * @param leftMs of what the request may wait
 * @returns throws as `withinWait`
 */
export function sharedWait(leftMs: number): SharedWait {
  return async (work) => {
    const beganAtMs = performance.now();
    try {
      return await withinWait(leftMs, work);
    } finally {
      leftMs -= performance.now() - beganAtMs;
    }
  };
}

type Release = PoolClient['release'];
type Taken = (error: Error | undefined, client: PoolClient | undefined, release: Release) => void;

/**
 * Limits how long a request may hold a connection of the pool, or wait for one. A connection whose time is over is closed, so
 * that a late answer is not taken for that to a later question. The embedded database keeps its only one.
 * @param dataSource connected
 */
export function limitWaits(dataSource: DataSource, limits: WaitLimits, isEmbedded = false): void {
  known.set(dataSource, limits);
  limitPool(driverPool(dataSource), limits.waitMs, isEmbedded);
}

/**
 * The same for a pool beside that of a data source.
 * @param driversPool a `Pool` of pg, by which it is not typed: a host that checks our types may have none of pg's
 */
export function limitPool(driversPool: object, waitMs: number, isEmbedded = false): void {
  const pool = driversPool as Pool;
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  if (!isEmbedded) pool.options.connectionTimeoutMillis = waitMs;
  const take = async (): Promise<PoolClient> => {
    if (pool.waitingCount >= MOST_WAITING) throw new DatabaseWaitError('pool_exhausted');
    const beganAtMs = performance.now();
    const client = await withinTurn(connect(), waitMs);
    if (isEmbedded) return client;
    doubtUnreplicated(client);
    limitUse(client, waitMs - (performance.now() - beganAtMs));
    return client;
  };
  const limited = (taken?: Taken): Promise<PoolClient> | undefined => {
    const taking = take();
    if (taken === undefined) return taking;
    taking.then(
      (client) => taken(undefined, client, (error) => client.release(error)),
      (error: unknown) => taken(error as Error, undefined, () => undefined),
    );
    return undefined;
  };
  Object.assign(pool, { connect: limited });
}

/** A connection that comes too late goes back at once. */
function withinTurn(turn: Promise<PoolClient>, waitMs: number): Promise<PoolClient> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const callOff = afterWaiting(waitMs, () => {
      isOver = true;
      reject(new DatabaseWaitError('pool_exhausted'));
    });
    turn.then(
      (client) => {
        callOff();
        if (isOver) client.release();
        else resolve(client);
      },
      (error: Error) => {
        callOff();
        reject(error);
      },
    );
  });
}

function limitUse(client: PoolClient, leftMs: number): void {
  const release = client.release.bind(client);
  // While a statement is under way this closes at once; the pool sees it when the connection comes back.
  const callOff = afterWaiting(Math.max(0, leftMs), () => void Promise.resolve(client.end()));
  client.release = (error) => {
    callOff();
    release(error);
  };
}

/** Of PostgreSQL's source, and so the same in every language. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';
const doubted = new WeakSet<PoolClient>();

/**
 * Makes an error of PostgreSQL's warning that a commit was not replicated as configured: a server that takes over may lack it.
 * Called once for each connection, since some exist before the limits.
 */
function doubtUnreplicated(client: PoolClient): void {
  if (doubted.has(client)) return;
  doubted.add(client);
  let isInDoubt = false;
  client.on('notice', ({ routine }: Pick<DatabaseError, 'routine'>) => {
    if (routine === WAIT_FOR_STANDBY) isInDoubt = true;
  });
  const ask = client.query.bind(client) as (...question: unknown[]) => unknown;
  const checked = (answer: unknown) => {
    if (!isInDoubt) return answer;
    isInDoubt = false;
    throw new DatabaseWaitError('not_replicated');
  };
  const query = (...question: unknown[]) => {
    const answer = ask(...question);
    return answer instanceof Promise ? answer.then(checked) : answer;
  };
  Object.assign(client, { query });
}
