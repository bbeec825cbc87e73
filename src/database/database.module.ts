// Offers the open database and its transactions to the whole application.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { OpenDatabase } from './data-source.js';
import { Transactions } from './transaction.js';

@Module({})
export class DatabaseModule {
  /** The database is opened before Nest starts, so that a fault there is told as a fault of the start. */
  static register({ dataSource }: OpenDatabase): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => dataSource.options,
          dataSourceFactory: () => Promise.resolve(dataSource),
        }),
      ],
      providers: [Transactions],
      exports: [Transactions],
    };
  }
}
