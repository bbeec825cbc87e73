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

/** LISTEN on a PostgreSQL connection of its own, made anew every 5 seconds while it is lost. */
export class PostgresNotifications extends Notifications {
  readonly hasOtherProcesses = true;

  constructor(
    private readonly connection: ConnectionBeside,
    private readonly logger: Log,
  ) {
    super();
  }

  listen(channel: string, onNews: () => void): Subscription {
    const listener = new PostgresListener(this.connection, channel, onNews, this.logger);
    void listener.run();
    return listener;
  }
}

class PostgresListener implements Subscription {
  private client: pg.Client | undefined;
  private readonly ended = new AbortController();

  constructor(
    private readonly connection: ConnectionBeside,
    private readonly channel: string,
    private readonly onNews: () => void,
    private readonly logger: Log,
  ) {}

  async run(): Promise<void> {
    while (!this.ended.signal.aborted) {
      await this.listenUntilLost();
      await pause(RECONNECT_MS, undefined, { ref: false, signal: this.ended.signal }).catch(() => undefined);
    }
  }

  async end(): Promise<void> {
    this.ended.abort();
    const { client } = this;
    // A server that is silent does not take the goodbye either.
    const goodbye = client?.end().catch(() => undefined);
    await Promise.race([goodbye, pause(GOODBYE_MS, undefined, { ref: false })]);
  }

  private async listenUntilLost(): Promise<void> {
    const client = this.createClient();
    this.client = client;
    const lost = new Promise<void>((resolve) => client.once('end', resolve));
    try {
      await client.connect();
      await this.connection.onConnect?.(client);
      await client.query('SET idle_session_timeout = 0');
      await client.query(`LISTEN ${client.escapeIdentifier(this.channel)}`);
      this.onNews();
      await lost;
      this.warnOfLoss(undefined);
    } catch (error) {
      this.warnOfLoss(error);
      await client.end().catch(() => undefined);
    }
  }

  private createClient(): pg.Client {
    const client = new pg.Client({
      ...this.connection,
      application_name: 'embedded-token-exchange notifications',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
      connectionTimeoutMillis: CONNECTION_MS,
    });
    client.on('notification', () => this.onNews());
    // Without a listener an error would end the process; the end of the connection follows and is what counts.
    client.on('error', () => undefined);
    return client;
  }

  private warnOfLoss(error: unknown): void {
    if (this.ended.signal.aborted) return;
    const { code } = (error ?? {}) as { code?: string };
    this.logger.warn(
      { code, channel: this.channel },
      'no database notifications; changes are polled for meanwhile',
    );
  }
}

/** Over connections beside those of the pool. */
export function notificationsOf(): Provider[] {
  const useFactory = ({ dataSource }: Database, log: Log) =>
    new PostgresNotifications(connectionOf(dataSource), log);
  return [{ provide: Notifications, inject: [Database, LOGGER], useFactory }];
}
