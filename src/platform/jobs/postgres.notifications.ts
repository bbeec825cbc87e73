// The announcements of other processes, by LISTEN.
import { setTimeout as pause } from 'node:timers/promises';
import type { Provider } from '@nestjs/common';
import pg from 'pg';
import { Database } from '../database/database.js';
import type { ConnectionBeside } from '../database/driver-pool.js';
import { connectionOf } from '../database/driver-pool.js';
import type { Log } from '../log/log.js';
import { LOGGER } from '../log/log.js';
import type { Subscription } from './notifications.js';
import { Notifications } from './notifications.js';

const RECONNECT_MS = 5_000;
const CONNECTION_MS = 5_000;
const GOODBYE_MS = 1_000;
/** A silent connection is probed after this time, so that a vanished server is noticed at all. */
const KEEPALIVE_DELAY_MS = 10_000;

interface Listener {
  readonly channel: string;
  readonly onNews: () => void;
}

/**
 * LISTEN for all listeners on one PostgreSQL connection of its own. A lost connection is made anew every 5 seconds. Nothing that a
 * listener does is waited for, so that none delays another.
 */
export class PostgresNotifications extends Notifications {
  readonly hasOtherProcesses = true;
  private readonly listeners = new Set<Listener>();
  /** Aborted once nobody listens any more; undefined until somebody does. */
  private running: AbortController | undefined;
  private client: pg.Client | undefined;
  private isReady = false;
  /** One statement at a time. */
  private begun: Promise<void> = Promise.resolve();

  constructor(
    private readonly connection: ConnectionBeside,
    private readonly logger: Log,
  ) {
    super();
  }

  listen(channel: string, onNews: () => void): Subscription {
    const listener = { channel, onNews };
    this.listeners.add(listener);
    if (this.running === undefined) void this.run((this.running = new AbortController()).signal);
    else if (this.isReady) this.beginLater(listener);
    return { end: () => this.end(listener) };
  }

  private async end(listener: Listener): Promise<void> {
    this.listeners.delete(listener);
    if (this.listeners.size > 0) return;
    this.running?.abort();
    this.running = undefined;
    // A server that is silent does not take the goodbye either.
    const goodbye = this.client?.end().catch(() => undefined);
    await Promise.race([goodbye, pause(GOODBYE_MS, undefined, { ref: false })]);
  }

  private async run(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      await this.listenUntilLost(ended);
      await pause(RECONNECT_MS, undefined, { ref: false, signal: ended }).catch(() => undefined);
    }
  }

  private async listenUntilLost(ended: AbortSignal): Promise<void> {
    const client = this.createClient();
    this.client = client;
    const lost = new Promise<void>((resolve) => client.once('end', resolve));
    try {
      await client.connect();
      await this.connection.onConnect?.(client);
      await client.query('SET idle_session_timeout = 0');
      // Those who begin meanwhile are in it.
      for (const listener of this.listeners) await this.begin(client, listener);
      this.isReady = true;
      await lost;
      this.warnOfLoss(ended);
    } catch (error) {
      this.warnOfLoss(ended, error);
      await client.end().catch(() => undefined);
    } finally {
      if (this.client === client) this.isReady = false;
    }
  }

  private async begin(client: pg.Client, { channel, onNews }: Listener): Promise<void> {
    await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    onNews();
  }

  /** Without an answer the connection is ended, and the next one listens. */
  private beginLater(listener: Listener): void {
    const { client } = this;
    if (client === undefined) return;
    this.begun = this.begun.then(() => this.begin(client, listener)).catch(() => client.end());
  }

  private createClient(): pg.Client {
    const client = new pg.Client({
      ...this.connection,
      application_name: 'embedded-token-exchange notifications',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
      connectionTimeoutMillis: CONNECTION_MS,
    });
    client.on('notification', ({ channel }) => {
      for (const listener of this.listeners) if (listener.channel === channel) listener.onNews();
    });
    // Without a listener an error would end the process; the end of the connection follows and is what counts.
    client.on('error', () => undefined);
    return client;
  }

  private warnOfLoss(ended: AbortSignal, error?: unknown): void {
    if (ended.aborted) return;
    const { code } = (error ?? {}) as { code?: string };
    this.logger.warn({ code }, 'no database notifications; changes are polled for meanwhile');
  }
}

/** Over one connection beside those of the pool. */
export function notificationsOf(): Provider[] {
  const useFactory = ({ dataSource }: Database, log: Log) =>
    new PostgresNotifications(connectionOf(dataSource), log);
  return [{ provide: Notifications, inject: [Database, LOGGER], useFactory }];
}
