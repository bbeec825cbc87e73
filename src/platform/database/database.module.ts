// Provides the open database to all modules.
import type { DynamicModule, OnApplicationShutdown } from '@nestjs/common';
import { Inject, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { DatabaseSettings, OpenDatabase, Schema } from './data-source.js';
import { DATABASE_SETTINGS, OPEN_DATABASE, openDatabase } from './data-source.js';
import { Database, OPERATOR_DATABASE, StatementPool } from './database.js';
import { Transactions } from './transaction.js';

/**
 * Opens the database while Nest creates the providers. Closes it after everything else, because global
 * modules end last.
 */
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  static register(settings: DatabaseSettings, schema: Schema): DynamicModule {
    const providers = [
      { provide: DATABASE_SETTINGS, useValue: settings },
      { provide: OPEN_DATABASE, useFactory: () => openDatabase(settings, schema) },
      // TypeOrmModule would open a second one.
      {
        provide: DataSource,
        inject: [OPEN_DATABASE],
        useFactory: ({ dataSource }: OpenDatabase) => dataSource,
      },
      {
        provide: Database,
        inject: [DataSource],
        useFactory: (dataSource: DataSource) => new Database(dataSource),
      },
      {
        provide: OPERATOR_DATABASE,
        inject: [OPEN_DATABASE, Database],
        useFactory: ({ dataSource, operatorPool }: OpenDatabase, database: Database) =>
          operatorPool === undefined ? database : new StatementPool(dataSource, operatorPool),
      },
      Transactions,
    ];
    return { module: DatabaseModule, global: true, providers, exports: providers };
  }

  constructor(@Inject(OPEN_DATABASE) private readonly database: OpenDatabase) {}

  onApplicationShutdown(): Promise<void> {
    return this.database.close();
  }
}
