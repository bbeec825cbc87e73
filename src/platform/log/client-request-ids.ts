// Numbers requests, and remembers what untrusted clients called them, for the log lines and audit events that have their id.
import type { IncomingMessage } from 'node:http';
import { newRequestId, sentRequestId } from './request-id.js';

/** More than are under way at one time. The oldest is forgotten first. */
const MOST_REMEMBERED = 20_000;

/** By the service's own ids, no two of which are the same. To carry them through every call would cost each request. */
const sentIds = new Map<string, string>();

/**
 * The id of a request, for its whole life.
 * @rule D21 A well-formed `X-Request-Id` is the id only where it comes from a trusted proxy; another client's stands beside an own one.
 * See audit-trail.repository.ts for the trail, request-traces.ts for log lines.
 * @param isTrusted whether a reverse proxy is believed
 */
export function idOfRequest(request: Pick<IncomingMessage, 'headers'>, isTrusted: boolean): string {
  const sent = sentRequestId(request);
  if (sent !== undefined && isTrusted) return sent;
  const id = newRequestId();
  if (sent !== undefined) remember(id, sent);
  return id;
}

/** What the client of this request called it; undefined where it did not, or its id was taken as the request's. */
export function clientRequestIdOf(requestId: string): string | undefined {
  return sentIds.get(requestId);
}

function remember(id: string, sent: string): void {
  sentIds.set(id, sent);
  const [oldest] = sentIds.size > MOST_REMEMBERED ? sentIds.keys() : [];
  if (oldest !== undefined) sentIds.delete(oldest);
}
