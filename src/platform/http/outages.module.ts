// Provides the one `DatabaseOutages`, which reports and counts outages of the database.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { Log } from '../log/log.js';
import { LOGGER } from '../log/log.js';
import type { OutageWatch } from './database-outages.js';
import { DatabaseOutages } from './database-outages.js';

@Module({})
export class OutagesModule {
  /** @param imports modules that offer log and database */
  static register(watch: OutageWatch, imports: ModuleMetadata['imports']): DynamicModule {
    const useFactory = (database: Database, log: Log) => new DatabaseOutages(database, log, watch);
    return {
      module: OutagesModule,
      imports,
      providers: [{ provide: DatabaseOutages, inject: [Database, LOGGER], useFactory }],
      exports: [DatabaseOutages],
    };
  }
}
