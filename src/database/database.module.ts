// Offers the open database, transactions, the leader and other instances' announcements to the whole application.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Coordination } from './coordination.js';
import type { OpenDatabase } from './data-source.js';
import { Leader } from './leader.js';
import { Notifications } from './notifications.js';
import { Transactions } from './transaction.js';

@Module({})
export class DatabaseModule {
  /** The database is opened before Nest starts, so that a fault there is told as a fault of the start. */
  static register(database: OpenDatabase, { leader, notifications }: Coordination): DynamicModule {
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
      ],
      exports: [Transactions, Leader, Notifications],
    };
  }
}
