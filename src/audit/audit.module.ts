// The audit trail, its event bus, and its log lines.
import { Inject, Injectable, Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { Logger } from 'pino';
import { Database } from '../platform/database/database.js';
import { LOGGER } from '../platform/log/log.js';
import { KeyRing } from '../platform/secrets/key-ring.js';
import type { AuditEvent } from '../token-exchange/instance.js';
import { AuditBus, AuditTrail } from '../token-exchange/instance.js';
import { AuditTrailReader } from './audit-trail.reader.js';
import { AuditTrailRepository } from './audit-trail.repository.js';
import { outcomeOf } from './instance-events.js';
import { PersonHashes } from './person-hashes.js';
import { TrailSummaryReader } from './trail-summary.reader.js';

/** Writes each audit event as a JSON log line. */
@Injectable()
class AuditLogSink {
  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  @OnEvent('svc.audit.**')
  write({ name, requestId, subjectUserId, actorUserId, payload }: AuditEvent): void {
    // A refused token or call already has a warning in the log, with the cause.
    if (outcomeOf(name)?.is === 'failed') return;
    this.logger.info({ event: name, requestId, subjectUserId, actorUserId, payload }, 'audit');
  }
}

@Module({
  providers: [
    AuditBus,
    { provide: PersonHashes, inject: [KeyRing], useFactory: (keyRing: KeyRing) => new PersonHashes(keyRing) },
    AuditTrailRepository,
    {
      provide: AuditTrailReader,
      inject: [Database],
      useFactory: (database: Database) => new AuditTrailReader(database),
    },
    TrailSummaryReader,
    { provide: AuditTrail, useExisting: AuditTrailRepository },
    AuditLogSink,
  ],
  exports: [AuditBus, AuditTrailRepository, AuditTrailReader, PersonHashes, TrailSummaryReader],
})
export class AuditModule {}
