// Elects one process as leader by an advisory lock.
import { setTimeout as pause } from 'node:timers/promises';
import type { OnApplicationShutdown, OnModuleInit, Provider } from '@nestjs/common';
import pg from 'pg';
import { Database } from '../database/database.js';
import type { ConnectionBeside } from '../database/driver-pool.js';
import { connectionOf } from '../database/driver-pool.js';
import type { Log } from '../log/log.js';
import { LOGGER } from '../log/log.js';
import { Leader } from './leader.js';

/** The time between a candidate's queries, and between attempts to connect. */
const ASK_MS = 1_000;
const PING_MS = 2_000;
/**
 * The server ends a session that is silent this long, and frees the lock: its process or network has stopped.
 */
const IDLE_SESSION_MS = 6_000;
/** A leader that gets no answer for this long no longer acts as leader. */
const BELIEF_MS = 5_000;
const ANSWER_MS = 5_000;
/** How long a stop waits until the server has ended the session. */
const GOODBYE_MS = 1_000;

/**
 * Takes the leader's advisory lock. Its key depends on a table, because two products may have their tables in
 * two schemas of one database.
 */
const TRY_LOCK = `SELECT pg_try_advisory_lock(7236450102 + 'token_exchange_jwks_snapshot'::regclass::oid::bigint) AS is_held`;

/**
 * A candidate for the leadership, with its own database session.
 *
 * The lock belongs to the session, so the database frees it when the process or the connection ends. A
 * stopped or disconnected process loses its session through `idle_session_timeout`; another candidate gets
 * the lock a second later. A candidate never waits for the lock in the database: a waiting statement holds a
 * snapshot, which keeps VACUUM from removing rows.
 * @rule D94 The server ends the session of a silent leader. A leader without answers no longer acts as
 * leader. For a moment two processes may act as leader, and each of the leader's jobs is harmless then. A
 * fail-over of the database frees the lock; the first candidate that reaches the new server takes it.
 */
export class AdvisoryLockLeader extends Leader implements OnModuleInit, OnApplicationShutdown {
  private session: pg.Client | undefined;
  private holdsLock = false;
  /** When the last answered statement was sent, on the monotonic clock. */
  private confirmedAtMs = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private isFailing = false;

  constructor(
    private readonly connection: ConnectionBeside,
    private readonly logger: Log,
  ) {
    super();
  }

  get isLeader(): boolean {
    return !this.isStopped && this.holdsLock && performance.now() - this.confirmedAtMs < BELIEF_MS;
  }

  /** Runs before jobs start. */
  onModuleInit(): Promise<void> {
    return this.start();
  }

  /** Runs after jobs have ended. */
  onApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /** Applies for the leadership until it is stopped. Resolves after the first attempt. */
  async start(): Promise<void> {
    await this.attempt();
    if (this.isStopped) return;
    this.timer = setTimeout(() => void this.start(), this.holdsLock ? PING_MS : ASK_MS);
    this.timer.unref();
  }

  /** Frees the lock: another candidate gets it within a second. Always resolves within a second. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    const goodbye = this.session?.end().catch(() => undefined);
    await Promise.race([goodbye, pause(GOODBYE_MS, undefined, { ref: false })]);
  }

  /** Asks for the lock, or keeps the holder's session alive. Never rejects. */
  private async attempt(): Promise<void> {
    try {
      const session = (this.session ??= await this.connect());
      const askedAtMs = performance.now();
      if (this.holdsLock) await session.query('SELECT 1');
      else if (await holdsLockNow(session)) this.lead(session);
      if (this.session === session) this.confirmedAtMs = askedAtMs;
      this.isFailing = false;
    } catch (error) {
      this.reportFailure(error);
      if (this.session !== undefined) this.lose(this.session);
    }
  }

  private async connect(): Promise<pg.Client> {
    const session = new pg.Client({
      ...this.connection,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      application_name: 'embedded-token-exchange leader',
    });
    // Without a listener, a lost connection would end the process.
    session.on('error', () => this.lose(session));
    session.on('end', () => this.lose(session));
    try {
      await session.connect();
      await this.connection.onConnect?.(session);
      await session.query(
        `SET idle_session_timeout = ${IDLE_SESSION_MS}; SET statement_timeout = ${ANSWER_MS}`,
      );
      if (this.isStopped) throw new Error('stopped while it connected');
      return session;
    } catch (error) {
      void session.end().catch(() => undefined);
      throw error;
    }
  }

  private lead(session: pg.Client): void {
    if (this.session !== session) return;
    this.holdsLock = true;
    this.logger.info({}, 'this instance is the leader now');
  }

  /** May be called more than once for the same session. */
  private lose(session: pg.Client): void {
    if (this.session !== session) return;
    this.session = undefined;
    void session.end().catch(() => undefined);
    if (this.holdsLock && !this.isStopped)
      this.logger.warn({ reason: 'the connection is lost' }, 'this instance is no longer the leader');
    this.holdsLock = false;
  }

  /** Logs once per outage; attempts continue every second. */
  private reportFailure(error: unknown): void {
    if (this.isFailing || this.isStopped) return;
    this.isFailing = true;
    const { code, message } = error as { code?: string; message?: string };
    this.logger.warn({ code, reason: message }, 'the leader election does not reach the database');
  }
}

async function holdsLockNow(session: pg.Client): Promise<boolean> {
  const { rows } = await session.query<{ is_held: boolean }>(TRY_LOCK);
  return rows[0]?.is_held === true;
}

/** Provides this process's candidate. */
export function leadershipOf(): Provider[] {
  const useFactory = ({ dataSource }: Database, log: Log) =>
    new AdvisoryLockLeader(connectionOf(dataSource), log);
  return [
    { provide: AdvisoryLockLeader, inject: [Database, LOGGER], useFactory },
    { provide: Leader, useExisting: AdvisoryLockLeader },
  ];
}
