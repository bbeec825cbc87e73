// Receives PostgreSQL's notifications.
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
/** When a silent connection is probed, to detect a vanished server. */
const KEEPALIVE_DELAY_MS = 10_000;

interface Listener {
  readonly channel: string;
  readonly onNews: () => void;
}

/**
 * Serves all listeners on one PostgreSQL connection outside the pool. Reconnects every 5 seconds if it is
 * lost. Never waits for a listener, so none delays another.
 */
export class PostgresNotifications extends Notifications {
  readonly hasOtherProcesses = true;
  private readonly listeners = new Set<Listener>();
  /** Aborted when the last listener ends; undefined before the first. */
  private running: AbortController | undefined;
  private client: pg.Client | undefined;
  private isReady = false;
  /** Runs one statement at a time. */
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
    // A silent server does not answer the goodbye either.
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
      // Includes listeners that are added meanwhile.
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

  /** If the statement fails, the connection is closed; the next one listens again. */
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
    // Without a listener an error would end the process. The `end` event that follows is handled.
    client.on('error', () => undefined);
    return client;
  }

  private warnOfLoss(ended: AbortSignal, error?: unknown): void {
    if (ended.aborted) return;
    const { code } = (error ?? {}) as { code?: string };
    this.logger.warn({ code }, 'no database notifications; changes are polled for meanwhile');
  }
}

/** Provides notifications over one connection outside the pool. */
export function notificationsOf(): Provider[] {
  const useFactory = ({ dataSource }: Database, log: Log) =>
    new PostgresNotifications(connectionOf(dataSource), log);
  return [{ provide: Notifications, inject: [Database, LOGGER], useFactory }];
}
