// The audit trail with the bus to it and its sinks.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { AuditTrail } from '../token-exchange/audit/audit-trail.js';
import { AuditBus } from '../token-exchange/audit/audit.bus.js';
import { AuditLogSink } from './audit-log.sink.js';
import { AuditTrailFollower } from './audit-trail.follower.js';
import { AuditTrailReader } from './audit-trail.reader.js';
import { AuditTrailRepository } from './audit-trail.repository.js';
import { TrailSummaryReader } from './trail-summary.reader.js';

@Module({})
export class AuditModule {
  /** @param imports modules that offer log and database */
  static register(imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    const emitter = EventEmitterModule.forRoot({ wildcard: true, global: false });
    return {
      module: AuditModule,
      imports: [...imports, emitter],
      providers: [
        AuditBus,
        AuditTrailRepository,
        AuditTrailReader,
        AuditTrailFollower,
        TrailSummaryReader,
        { provide: AuditTrail, useExisting: AuditTrailRepository },
        AuditLogSink,
      ],
      exports: [
        AuditBus,
        AuditTrailRepository,
        AuditTrailReader,
        AuditTrailFollower,
        TrailSummaryReader,
        emitter,
      ],
    };
  }
}
