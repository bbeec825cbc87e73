// How the instances on one database agree: who leads, and what one announces to the others.
import type { Logger } from 'pino';
import type { DatabaseSettings } from '../database/data-source.js';
import { AdvisoryLockLeader } from '../token-exchange/coordination/advisory-lock.leader.js';
import type { Leader } from '../token-exchange/coordination/leader.js';
import { SoleLeader } from '../token-exchange/coordination/leader.js';
import type { Notifications } from '../token-exchange/coordination/notifications.js';
import { SoleProcessNotifications } from '../token-exchange/coordination/notifications.js';
import { PostgresNotifications } from '../token-exchange/coordination/postgres.notifications.js';
import type { Clock } from '../token-exchange/foundation/clock.js';
import { AppointedLeader } from './appointed.leader.js';

export interface Coordination {
  readonly leader: Leader;
  readonly notifications: Notifications;
}

/** Calls back when the process is to apply for the leadership: at once, later, or never. */
export type Appointment = (apply: () => Promise<void>) => Promise<void>;

/**
 * On PostgreSQL an instance is one of several; the embedded database belongs to one process (D46).
 * @param appointment whether one of several workers is its instance's candidate
 */
export async function joinInstances(
  settings: DatabaseSettings,
  logger: Logger,
  clock: Clock,
  appointment: Appointment = (apply) => apply(),
): Promise<Coordination> {
  if (settings.kind === 'embedded') {
    return { leader: new SoleLeader(), notifications: new SoleProcessNotifications() };
  }
  const connection = { connectionString: settings.url };
  const leader = new AppointedLeader(() => new AdvisoryLockLeader(connection, logger, clock));
  await appointment(() => leader.appoint());
  return { leader, notifications: new PostgresNotifications(connection, logger) };
}
