// The connection that carries a candidacy for the leadership: a session of its own, kept by no side without the other.
import { Socket } from 'node:net';
import type { ClientConfig } from 'pg';
import pg from 'pg';

/** A statement or a connection that takes longer counts as failed. */
const DEADLINE_MS = 5_000;
/** The server gives up first: its answer tells why, and the session serves on. */
const STATEMENT_MS = 4_000;
/** How long a polite goodbye may take before the socket is closed without one. */
const GOODBYE_MS = 1_000;

/** Notifications on this channel say that the leadership is free. */
export const LEADERSHIP_FREE_CHANNEL = 'leadership_free';

/**
 * A machine that vanishes without a word must not keep the lock: the server asks after 4 s of silence and every 2 s then,
 * and drops the session after 10 s without an answer. (Over a Unix-domain socket the settings have no effect.)
 */
const SESSION_SETTINGS = `
  SET tcp_keepalives_idle = '4s';
  SET tcp_keepalives_interval = '2s';
  SET tcp_keepalives_count = 3;
  SET tcp_user_timeout = '10s';
  SET statement_timeout = '${STATEMENT_MS}ms';
  LISTEN ${LEADERSHIP_FREE_CHANNEL}`;
const KEEPALIVE_IDLE_MS = 4_000;

/** What a session tells its owner, at any time after it was opened. */
export interface LeaderSessionEvents {
  /** The connection is gone. May come more than once. */
  onLost(session: LeaderSession): void;
  /** Another candidate has given the leadership up. */
  onLeadershipFree(): void;
}

/** `query_canceled` by the limit of time, and `lock_not_available`. */
const HELD_UP = new Set(['57014', '55P03']);

/** Whether a statement was given up by the server because of others who are at work. */
export function wasHeldUp(error: unknown): boolean {
  return HELD_UP.has(String((error as { code?: unknown }).code));
}

/** One open session. A failed statement leaves it in doubt, but for one that `wasHeldUp`: close it and open another. */
export class LeaderSession {
  private constructor(
    private readonly client: pg.Client,
    private readonly socket: Socket,
  ) {}

  /** @throws Error when the database is not reached within five seconds, or refuses */
  static async open(connection: ClientConfig, events: LeaderSessionEvents): Promise<LeaderSession> {
    // The socket is made here, so that it can be closed when the network does not even take a goodbye.
    const socket = new Socket();
    const client = new pg.Client({
      ...connection,
      stream: () => socket,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_IDLE_MS,
      connectionTimeoutMillis: DEADLINE_MS,
      query_timeout: DEADLINE_MS,
      application_name: 'embedded-token-exchange leader',
    });
    const session = new LeaderSession(client, socket);
    // Without a listener a lost connection would end the process.
    client.on('error', () => events.onLost(session));
    client.on('notification', () => events.onLeadershipFree());
    await session.prepare();
    return session;
  }

  /** @throws Error when the statement fails, or is not answered within five seconds */
  async query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    const { rows } = await this.client.query<Row>(sql, values);
    return rows;
  }

  /** Closes at once, without a word to the server. */
  abandon(): void {
    this.socket.destroy();
  }

  /** Closes so that the server knows at once; resolves within a second even when it does not. */
  async close(): Promise<void> {
    const impatience = setTimeout(() => this.abandon(), GOODBYE_MS);
    await this.client.end();
    clearTimeout(impatience);
  }

  private async prepare(): Promise<void> {
    try {
      await this.client.connect();
      await this.client.query(SESSION_SETTINGS);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }
}
