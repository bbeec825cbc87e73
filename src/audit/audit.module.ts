// The audit bus with its sinks.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { repositoriesOf } from '../database/database.module.js';
import { AuditLogSink } from './audit-log.sink.js';
import { AuditRow, AuditTrailRepository } from './audit-trail.repository.js';
import { AuditBus } from './audit.bus.js';

@Module({})
export class AuditModule {
  /** @param imports modules that offer log and database */
  static register(imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    const emitter = EventEmitterModule.forRoot({ wildcard: true, global: false });
    return {
      module: AuditModule,
      imports: [...imports, emitter, repositoriesOf([AuditRow], imports)],
      providers: [AuditBus, AuditTrailRepository, AuditLogSink],
      exports: [AuditBus],
    };
  }
}
