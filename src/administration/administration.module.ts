// Performs administrative operations in the running service, for commands that come by its socket and for the operator's page.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { Clock } from '../platform/clock.js';
import { Database } from '../platform/database/database.js';
import { OPERATOR_DATABASE } from '../platform/database/database.module.js';
import { AuditBus, RevocationFollower } from '../token-exchange/instance.js';
import { Administration } from './administration.js';
import type { InstanceSettings } from './instance-parts.js';
import { instancePartsOn } from './instance-parts.js';

@Module({})
export class AdministrationModule {
  /**
   * @param settings what is configured
   * @param imports modules that offer clock, log, database, audit bus and revocations
   */
  static register(
    settings: InstanceSettings,
    imports: NonNullable<ModuleMetadata['imports']>,
  ): DynamicModule {
    const useFactory = (
      audit: AuditBus,
      clock: Clock,
      database: Database,
      operatorDatabase: Database,
      follower: RevocationFollower,
    ) => {
      const learnRevocations = () => follower.hear();
      const parts = instancePartsOn(database, settings, clock, { operatorDatabase, learnRevocations });
      return new Administration(parts, audit, clock);
    };
    const inject = [AuditBus, Clock, Database, OPERATOR_DATABASE, RevocationFollower];
    return {
      module: AdministrationModule,
      imports,
      providers: [{ provide: Administration, useFactory, inject }],
      exports: [Administration],
    };
  }
}
