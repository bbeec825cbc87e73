// Gives each request an id that its answer, its log lines and its audit events share.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What is taken from a client: printable, short, and harmless in a log line, a header and a database. */
const WELL_FORMED = /^[\w.:-]{8,128}$/;

/**
 * @rule D21 A well-formed incoming `X-Request-Id` is kept, every other request gets a new one.
 * See server.ts for the header on every answer and the access line, audit-event.ts for the id in events.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const incoming = headers['x-request-id'];
  return typeof incoming === 'string' && WELL_FORMED.test(incoming) ? incoming : randomUUID();
}
