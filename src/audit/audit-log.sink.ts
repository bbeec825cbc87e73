// Writes each audit event as one JSON log line.
import { Inject, Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { Logger } from 'pino';
import type { AuditEvent, AuditEventName } from '../token-exchange/audit/audit-event.js';
import { LOGGER } from '../platform/log/log.js';

/** Logged as a warning, with the cause in words, by whoever refuses: token-exchange/journey.ts, access/bearer-refusal.recorder.ts. */
const REFUSALS: readonly string[] = [
  'svc.audit.token-exchange.failed',
  'svc.audit.token-exchange.embed-login-failed',
  'svc.audit.api.refused',
] satisfies AuditEventName[];

@Injectable()
export class AuditLogSink {
  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  @OnEvent('svc.audit.**')
  write({ name, requestId, subjectUserId, actorUserId, payload }: AuditEvent): void {
    if (REFUSALS.includes(name)) return;
    this.logger.info({ event: name, requestId, subjectUserId, actorUserId, payload }, 'audit');
  }
}
