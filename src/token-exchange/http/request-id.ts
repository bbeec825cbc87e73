// Gives each request an id that its answer, its log lines and its audit events share.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What is taken from a client: printable, short, and harmless in a log line, a header and a database. */
const WELL_FORMED = /^[\w.:-]{8,128}$/;

/** A request whose server may have given it an id. */
type Request = Pick<IncomingMessage, 'headers'> & { readonly id?: unknown };

const given = new WeakMap<Request, string>();

/**
 * @rule D21 A well-formed incoming `X-Request-Id` is kept, every other request gets a new one.
 * An id that the host's server has given is kept as well. See edge/http.ts for the header on answers, http/server.ts for other
 * routes and the access line, audit-event.ts for the id in events.
 * @returns for one request always the same
 */
export function requestIdOf(request: Request): string {
  if (isWellFormed(request.id)) return request.id;
  const known = given.get(request);
  if (known !== undefined) return known;
  const incoming = request.headers['x-request-id'];
  const id = isWellFormed(incoming) ? incoming : randomUUID();
  given.set(request, id);
  return id;
}

function isWellFormed(id: unknown): id is string {
  return typeof id === 'string' && WELL_FORMED.test(id);
}
