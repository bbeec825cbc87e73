// Offers the open database and its transactions to the modules that import it.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Database } from './database.js';
import { Transactions } from './transaction.js';
import type { OpenDatabase } from './data-source.js';

/**
 * Injection token of a `Database` with the limits of requests. Requests to the operator's page, with made-up cookies for example,
 * take no connection from partners' requests, jobs or followers.
 */
export const OPERATOR_DATABASE = Symbol('OPERATOR_DATABASE');

@Module({})
export class DatabaseModule {
  /**
   * The database is opened before Nest starts, so that a fault is reported as a fault of the start. TypeOrmModule's own way to
   * open one would offer it to every module, whether it asks for it or not.
   */
  static register({ dataSource, operatorPool }: OpenDatabase): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        { provide: DataSource, useValue: dataSource },
        { provide: Database, useFactory: () => new Database(dataSource) },
        { provide: OPERATOR_DATABASE, useFactory: () => new Database(dataSource, () => operatorPool) },
        Transactions,
      ],
      exports: [DataSource, Database, OPERATOR_DATABASE, Transactions],
    };
  }
}
