// Gives each request an id that its answer, its log lines and its audit events share.
import type { IncomingMessage } from 'node:http';
import { v7 as timeOrderedUuid } from 'uuid';

/** What is taken from a client: printable, short, and harmless in a log line, a header and a database. */
const WELL_FORMED = /^[\w.:-]{8,128}$/;

const GIVEN = Symbol('the id that a request was given');

/** A request whose server may have given it an id. */
type Request = Pick<IncomingMessage, 'headers'> & { readonly id?: unknown; [GIVEN]?: string };

/** Fastify counts requests by these, from one again after each start. */
const COUNTED = 'req-';

/**
 * The id of a request, always the same: what its server has given it, if that can be told from those of others.
 * See http-answers.ts for the header on answers, src/http/server.ts for other routes and the access line, audit-event.ts for
 * the id in events.
 */
export function requestIdOf(request: Request): string {
  if (isWellFormed(request.id) && !request.id.startsWith(COUNTED)) return request.id;
  // On the request itself: a map with weak keys costs the garbage collector more than the rest of this.
  return (request[GIVEN] ??= newRequestId(request));
}

/**
 * New ids lie in the order of time, so that the index of the audit trail that finds them grows at its end alone: of random ones
 * each is in another page, which the log of the database takes whole after every checkpoint.
 * @rule D21 A well-formed incoming `X-Request-Id` is kept, every other request gets a new one.
 */
export function newRequestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const incoming = headers['x-request-id'];
  return isWellFormed(incoming) ? incoming : timeOrderedUuid();
}

function isWellFormed(id: unknown): id is string {
  return typeof id === 'string' && WELL_FORMED.test(id);
}
