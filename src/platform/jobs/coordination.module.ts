// Offers the leader and other instances' announcements, and keeps the embedded database in order.
import type { DynamicModule, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { OpenDatabase, DatabaseSettings } from '../database/data-source.js';
import { EmbeddedMaintenanceRepository } from '../database/embedded-maintenance.repository.js';
import { Leader, AlwaysLeader } from './leader.js';
import { Notifications, SoleProcessNotifications } from './notifications.js';
import { EmbeddedMaintenanceJob } from './embedded-maintenance.job.js';
import { AdvisoryLockLeader } from './advisory-lock.leader.js';
import { PostgresNotifications } from './postgres.notifications.js';

/** How the instances on one database agree: who leads, and what one announces to the others. */
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

@Module({})
export class CoordinationModule {
  /** This process has joined the other instances before Nest starts. */
  static register(
    { leader, notifications }: Coordination,
    database: OpenDatabase,
    logger: Logger,
  ): DynamicModule {
    return {
      module: CoordinationModule,
      providers: [
        { provide: Leader, useValue: leader },
        { provide: Notifications, useValue: notifications },
        ...maintenance(database, leader, logger),
      ],
      exports: [Leader, Notifications],
    };
  }
}

/** PostgreSQL has processes of its own for that. */
function maintenance({ kind, dataSource }: OpenDatabase, leader: Leader, logger: Logger): Provider[] {
  if (kind === 'postgresql') return [];
  const useFactory = () =>
    new EmbeddedMaintenanceJob(new EmbeddedMaintenanceRepository(dataSource), leader, logger);
  return [{ provide: EmbeddedMaintenanceJob, useFactory }];
}
