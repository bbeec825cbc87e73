// Offers the open database, transactions, the leader and other instances' announcements to the whole application.
import type { DynamicModule, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Logger } from 'pino';
import type { Coordination } from './coordination.js';
import type { OpenDatabase } from './data-source.js';
import { EmbeddedMaintenanceJob } from './embedded-maintenance.job.js';
import { EmbeddedMaintenanceRepository } from './embedded-maintenance.repository.js';
import { Leader } from './leader.js';
import { Notifications } from './notifications.js';
import { Transactions } from './transaction.js';

@Module({})
export class DatabaseModule {
  /** The database is opened before Nest starts, so that a fault there is told as a fault of the start. */
  static register(
    database: OpenDatabase,
    { leader, notifications }: Coordination,
    logger: Logger,
  ): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => database.dataSource.options,
          dataSourceFactory: () => Promise.resolve(database.dataSource),
        }),
      ],
      providers: [
        Transactions,
        { provide: Leader, useValue: leader },
        { provide: Notifications, useValue: notifications },
        ...maintenance(database, leader, logger),
      ],
      exports: [Transactions, Leader, Notifications],
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
