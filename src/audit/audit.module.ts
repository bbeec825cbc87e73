// The audit trail with the bus to it and its sinks.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { KeyRing } from '../platform/secrets/key-ring.js';
import { AuditBus, AuditTrail } from '../token-exchange/instance.js';
import { AuditLogSink } from './audit-log.sink.js';
import { AuditTrailReader } from './audit-trail.reader.js';
import { AuditTrailRepository } from './audit-trail.repository.js';
import { PersonHashes } from './person-hashes.js';
import { TrailSummaryReader } from './trail-summary.reader.js';

@Module({})
export class AuditModule {
  /** @param imports modules that offer log and database */
  static register(keyRing: KeyRing, imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    const emitter = EventEmitterModule.forRoot({ wildcard: true, global: false });
    return {
      module: AuditModule,
      imports: [...imports, emitter],
      providers: [
        AuditBus,
        { provide: PersonHashes, useValue: new PersonHashes(keyRing) },
        AuditTrailRepository,
        AuditTrailReader,
        TrailSummaryReader,
        { provide: AuditTrail, useExisting: AuditTrailRepository },
        AuditLogSink,
      ],
      exports: [AuditBus, AuditTrailRepository, AuditTrailReader, TrailSummaryReader, emitter],
    };
  }
}
