// How the instances on one database agree: who leads, and what one announces to the others.
import type { Logger } from 'pino';
import type { DatabaseSettings } from '../database/data-source.js';
import type { Clock } from '../foundation/clock.js';
import { AdvisoryLockLeader } from './advisory-lock.leader.js';
import type { Leader } from './leader.js';
import { SoleLeader } from './leader.js';
import type { Notifications } from './notifications.js';
import { PostgresNotifications, SoleProcessNotifications } from './notifications.js';

export interface Coordination {
  readonly leader: Leader;
  readonly notifications: Notifications;
}

/** On PostgreSQL an instance is one of several; the embedded database belongs to one process (D46). */
export async function joinInstances(
  settings: DatabaseSettings,
  logger: Logger,
  clock: Clock,
): Promise<Coordination> {
  if (settings.kind === 'embedded') {
    return { leader: new SoleLeader(), notifications: new SoleProcessNotifications() };
  }
  const leader = new AdvisoryLockLeader(settings.url, logger, clock);
  await leader.start();
  return { leader, notifications: new PostgresNotifications(settings.url, logger) };
}
