// Gives each request an id, which its response, log lines and audit events share.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';

/** Ids are printable, short, and harmless in log lines, headers and the database. */
export const MAX_REQUEST_ID_CHARACTERS = 128;
const WELL_FORMED = new RegExp(`^[\\w.:-]{8,${MAX_REQUEST_ID_CHARACTERS}}$`);

const GIVEN = Symbol('the id that a request was given');

/** A request to which its server may have assigned an id. */
interface Request {
  readonly id?: unknown;
  [GIVEN]?: string;
}

/** The prefix of Fastify's default ids, which start from one again after each restart. */
const COUNTED = 'req-';

/**
 * The id of a request, which never changes: the server's id if it is unique, or a new one. See
 * http-answers.ts for the header of responses, http/server.ts for other routes and the access line, and
 * audit.bus.ts for the id in events.
 */
export function requestIdOf(request: Request): string {
  if (isWellFormed(request.id) && !request.id.startsWith(COUNTED)) return request.id;
  // Stored on the request: a WeakMap costs the garbage collector more than everything else here.
  return (request[GIVEN] ??= newRequestId());
}

/** The client's `X-Request-Id`; undefined if it is missing or malformed. */
export function sentRequestId({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const sent = headers['x-request-id'];
  return isWellFormed(sent) ? sent : undefined;
}

/** The number of ids per millisecond. */
const IDS_PER_MS = 32 ** 3;
let latest = { atMs: 0, count: 0 };

/**
 * A new id of twenty base-32 digits (RFC 4648 §7, in lower case): the time in milliseconds, a count within
 * it, and 32 random bits. Ids increase even if the clock is set back, so that the audit trail's index only
 * grows at its end. Random ids would change another page each, which the database's log contains in full
 * after every checkpoint.
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
 * The clients' ids by the service's own unique ids. Has more entries than requests can be in progress.
 * Passing the id through every call would cost each request.
 */
const sentIds = new LRUCache<string, string>({ max: 20_000 });

/**
 * The id of a request for its whole lifetime.
 * @rule D21 A well-formed `X-Request-Id` becomes the id only if a trusted proxy sends it. Otherwise the
 * service logs it in addition to its own id. See audit-trail.repository.ts for the trail, and tracing.ts for
 * log lines.
 * @param isTrusted whether a reverse proxy is trusted
 */
export function idOfRequest(request: Pick<IncomingMessage, 'headers'>, isTrusted: boolean): string {
  const sent = sentRequestId(request);
  if (sent !== undefined && isTrusted) return sent;
  const id = newRequestId();
  if (sent !== undefined) sentIds.set(id, sent);
  return id;
}

/** The client's own id of this request; undefined if there is none, or it became the request's id. */
export function clientRequestIdOf(requestId: string): string | undefined {
  return sentIds.get(requestId);
}
