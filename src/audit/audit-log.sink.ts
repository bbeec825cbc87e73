// Writes each audit event as one JSON log line.
import { Inject, Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { Logger } from 'pino';
import type { AuditEvent } from '../token-exchange/plain.js';
import { LOGGER } from '../platform/log/log.js';
import { outcomeOf } from './instance-events.js';

@Injectable()
export class AuditLogSink {
  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  @OnEvent('svc.audit.**')
  write({ name, requestId, subjectUserId, actorUserId, payload }: AuditEvent): void {
    // Where a token or a call is refused, its log line is a warning with the cause in words.
    if (outcomeOf(name)?.is === 'failed') return;
    this.logger.info({ event: name, requestId, subjectUserId, actorUserId, payload }, 'audit');
  }
}
