// Offers the leader and other instances' announcements, and keeps the embedded database in order.
import type { DynamicModule, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { OpenDatabase } from '../database/data-source.js';
import { EmbeddedMaintenanceRepository } from '../database/embedded-maintenance.repository.js';
import { Leader } from './leader.js';
import { Notifications } from './notifications.js';
import type { Coordination } from './coordination.js';
import { EmbeddedMaintenanceJob } from './embedded-maintenance.job.js';

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
