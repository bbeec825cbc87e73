// Gives each request an id that its answer, its log lines and its audit events share.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';

/** An id is printable, short, and harmless in a log line, a header and a database. */
export const MAX_REQUEST_ID_CHARACTERS = 128;
const WELL_FORMED = new RegExp(`^[\\w.:-]{8,${MAX_REQUEST_ID_CHARACTERS}}$`);

const GIVEN = Symbol('the id that a request was given');

/** A request whose server may have given it an id. */
interface Request {
  readonly id?: unknown;
  [GIVEN]?: string;
}

/** Fastify counts requests by these, from one again after each start. */
const COUNTED = 'req-';

/**
 * The id of a request, always the same: the one its server gave it, if that is unique. See http-answers.ts for the header on
 * answers, src/platform/http/server.ts for other routes and the access line, audit.bus.ts for the id in events.
 */
export function requestIdOf(request: Request): string {
  if (isWellFormed(request.id) && !request.id.startsWith(COUNTED)) return request.id;
  // On the request itself: a map with weak keys costs the garbage collector more than the rest of this.
  return (request[GIVEN] ??= newRequestId());
}

/** The `X-Request-Id` that a client chose; undefined without a well-formed one. */
export function sentRequestId({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const sent = headers['x-request-id'];
  return isWellFormed(sent) ? sent : undefined;
}

/** How many ids one millisecond has room for. */
const IDS_PER_MS = 32 ** 3;
let latest = { atMs: 0, count: 0 };

/**
 * Twenty digits of base 32 (RFC 4648 §7, in lower case): the time in milliseconds, a count within it, and 32 random bits. Each is after
 * the one before, also if the clock is set back, so that the index of the audit trail that finds them grows at its end alone.
 * Of random ones each is in another page, which the log of the database takes whole after every checkpoint.
 */
export function newRequestId(): string {
  const now = Date.now();
  if (now > latest.atMs) latest = { atMs: now, count: 0 };
  else if (latest.count + 1 < IDS_PER_MS) latest.count += 1;
  else latest = { atMs: latest.atMs + 1, count: 0 };
  return base32(latest.atMs, 9) + base32(latest.count, 3) + randomUUID().slice(0, 8);
}

function base32(number: number, digits: number): string {
  return number.toString(32).padStart(digits, '0');
}

function isWellFormed(id: unknown): id is string {
  return typeof id === 'string' && WELL_FORMED.test(id);
}

/**
 * More than are under way at one time, by the service's own ids, no two of which are the same. To carry them through every call would
 * cost each request.
 */
const sentIds = new LRUCache<string, string>({ max: 20_000 });

/**
 * The id of a request, for its whole life.
 * @rule D21 A well-formed `X-Request-Id` is the id only where it comes from a trusted proxy; another client's stands beside an own one.
 * See audit-trail.repository.ts for the trail, tracing.ts for log lines.
 * @param isTrusted whether a reverse proxy is believed
 */
export function idOfRequest(request: Pick<IncomingMessage, 'headers'>, isTrusted: boolean): string {
  const sent = sentRequestId(request);
  if (sent !== undefined && isTrusted) return sent;
  const id = newRequestId();
  if (sent !== undefined) sentIds.set(id, sent);
  return id;
}

/** The client's own id of this request; undefined without one, or if it became the request's id. */
export function clientRequestIdOf(requestId: string): string | undefined {
  return sentIds.get(requestId);
}
