// Reads the audit trail from the three places where it appears: table, log and event bus.
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { LogLine, TestService } from './test-service.js';
import { until } from './until.js';

/** One row of the trail. */
export interface StoredEvent {
  name: string;
  requestId: string;
  subjectUserId: string | null;
  actorUserId: string | null;
  payload: Record<string, unknown>;
}

/** Names without what all share. */
export const EVENT = 'svc.audit.token-exchange.';

/** A statement after which a sink begins with the oldest event of the trail. */
export const cursorAtOldest = (sink: string) =>
  `INSERT INTO audit_sink_cursor (name, transaction_id, event_id) VALUES ('${sink}', 0, 0)`;

const SETTLED_MS = 90_000;

type Answer = Pick<Response, 'headers'>;

export function requestIdOf({ headers }: Answer): string {
  return headers.get('x-request-id') ?? '';
}

/** The rows of one request, by its id or its answer, or of all; in the order in which they were written. */
export function eventsOf(service: TestService, request?: Answer | string): Promise<StoredEvent[]> {
  const id = typeof request === 'object' ? requestIdOf(request) : request;
  return service.rows<StoredEvent>(
    `SELECT name, request_id AS "requestId", subject_user_id AS "subjectUserId", actor_user_id AS "actorUserId", payload
     FROM audit_event WHERE $1::text IS NULL OR request_id = $1 ORDER BY id`,
    [id ?? null],
  );
}

/** The reason for which a request was refused, by its audit event. */
export async function reasonOf(service: TestService, answer: Answer): Promise<unknown> {
  const [event] = await eventsOf(service, answer);
  return event?.payload['reason'];
}

/** How many rows of a name there are. */
export async function countEvents(service: TestService, name: string): Promise<number> {
  return (await eventsOf(service)).filter((event) => event.name === name).length;
}

/**
 * Waits until the stream has delivered all events. An open transaction of any test on the same server holds back later events.
 */
export async function untilTrailIsSettled(rows: TestService['rows']): Promise<void> {
  await until('no transaction holds the trail back', SETTLED_MS, async () => {
    const [row] = await rows<{ settled: boolean | null }>(
      `SELECT max(transaction_id) < txid_snapshot_xmin(txid_current_snapshot()) AS settled FROM audit_event
       WHERE transaction_id < txid_snapshot_xmax(txid_current_snapshot())`,
    );
    return row?.settled !== false;
  });
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
