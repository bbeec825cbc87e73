// Takes the trace of each request over, into log lines and, where the operator has loaded an SDK, into spans.
import type { FastifyInstance } from 'fastify';
import type { RequestTraces, TraceIds } from '../log/tracing.js';
import { Tracing } from '../log/tracing.js';

/** To be called before any other hook is added, so that the span includes their work. */
export function traceRequests(server: FastifyInstance, traces: RequestTraces): void {
  const tracing = Tracing.registered();
  server.addHook('onRequest', (request, { raw }, done) => {
    const { id, method, headers } = request;
    const route = tracing && request.routeOptions.url;
    if (tracing !== undefined && PROBES.has(route ?? '')) return done();
    const span = tracing?.beginRequest(method, route, headers);
    const ids = span === undefined ? readTraceparent(headers.traceparent) : span.ids;
    if (span === undefined && ids === undefined) return done();
    if (ids !== undefined) traces.begin(id, ids);
    // Comes in every case, also if the client has disconnected.
    raw.once('close', () => {
      if (ids !== undefined) traces.end(id, ids);
      span?.end(raw.writableFinished ? raw.statusCode : undefined);
    });
    if (span === undefined) done();
    else span.within(done);
  });
}

/** A log line or a span for each request would bury the others. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/healthz/readiness']);

/** Version, trace id, parent id, flags; what a later version adds follows a hyphen. */
const TRACEPARENT =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-[0-9a-f]{2}(?<rest>-.*)?$/;
const ONLY_ZEROS = /^0+$/;

/**
 * The ids of a `traceparent`; undefined where it is missing or malformed, which is no reason to refuse anything (W3C Trace
 * Context §3.2.2.3, the same in level 2). Malformed are: version `ff`, an id of zeros, capital letters, more than version `00` has. Flags are
 * not looked at: a caller's wish that a trace be recorded costs nothing here.
 */
export function readTraceparent(field: string | string[] | undefined): TraceIds | undefined {
  const { version, traceId, spanId, rest } = TRACEPARENT.exec(String(field ?? ''))?.groups ?? {};
  if (traceId === undefined || spanId === undefined || version === 'ff') return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  return ONLY_ZEROS.test(traceId) || ONLY_ZEROS.test(spanId) ? undefined : { traceId, spanId };
}
