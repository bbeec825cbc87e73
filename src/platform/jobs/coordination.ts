// How the instances on one database agree: who leads, and what one announces to the others.
import type { Logger } from 'pino';
import type { DatabaseSettings } from '../database/data-source.js';
import type { Leader } from './leader.js';
import { AlwaysLeader } from './leader.js';
import type { Notifications } from './notifications.js';
import { SoleProcessNotifications } from './notifications.js';
import { AdvisoryLockLeader } from './advisory-lock.leader.js';
import { PostgresNotifications } from './postgres.notifications.js';

export interface Coordination {
  readonly leader: Leader;
  readonly notifications: Notifications;
}

/** On PostgreSQL a process is one of several; the embedded database belongs to one (D46), which leads. */
export async function joinInstances(settings: DatabaseSettings, logger: Logger): Promise<Coordination> {
  if (settings.kind === 'embedded') {
    return { leader: new AlwaysLeader(), notifications: new SoleProcessNotifications() };
  }
  const connection = { connectionString: settings.url };
  const leader = new AdvisoryLockLeader(connection, logger);
  await leader.start();
  return { leader, notifications: new PostgresNotifications(connection, logger) };
}
