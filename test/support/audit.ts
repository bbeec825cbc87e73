// Reads the audit trail from the three places where it appears: table, log and event bus.
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { LogLine, TestService } from './test-service.js';

export interface AuditRow {
  name: string;
  request_id: string;
  subject_user_id: string | null;
  actor_user_id: string | null;
  payload: Record<string, unknown>;
}

/** Names without what all share. */
export const EVENT = 'svc.audit.token-exchange.';

/** The rows of one request, or of all, in the order in which they were written. */
export function auditRows(service: TestService, requestId?: string): Promise<AuditRow[]> {
  const columns = 'name, request_id, subject_user_id, actor_user_id, payload';
  return service.rows<AuditRow>(
    `SELECT ${columns} FROM audit_event WHERE $1::text IS NULL OR request_id = $1 ORDER BY id`,
    [requestId ?? null],
  );
}

/** The log lines that tell of events, of one request or of all. */
export function auditLines(service: TestService, requestId?: string): LogLine[] {
  const lines = service.log.filter(({ event }) => typeof event === 'string');
  return requestId === undefined ? lines : lines.filter((line) => line['requestId'] === requestId);
}

/** Calls the listener for every event from now on, as a listener of the product would be. */
export function onEveryEvent(
  service: TestService,
  listener: (event: { name: string; requestId: string }) => void,
): void {
  service.part(EventEmitter2).on('svc.audit.**', listener);
}
