// Writes each audit event as one JSON log line.
import { Inject, Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { Logger } from 'pino';
import type { AuditEvent } from '../token-exchange/audit/audit-event.js';
import { LOGGER } from '../token-exchange/foundation/log.js';

@Injectable()
export class AuditLogSink {
  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  @OnEvent('svc.audit.**')
  write({ name, requestId, subjectUserId, actorUserId, payload }: AuditEvent): void {
    this.logger.info({ event: name, requestId, subjectUserId, actorUserId, payload }, 'audit');
  }
}
