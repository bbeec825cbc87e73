// Takes the trace of each request over, into log lines and, where the operator has loaded an SDK, into spans.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestTraces } from '../log/request-traces.js';
import type { RequestSpan } from '../log/tracing.js';
import { Tracing } from '../log/tracing.js';
import { PROBES } from './probes.js';
import { readTraceparent } from './trace-context.js';

/** To be called before any other hook is added, so that the span includes their work. */
export function traceRequests(server: FastifyInstance, traces: RequestTraces): void {
  const tracing = Tracing.registered();
  server.addHook('onRequest', (request, reply, done) => {
    if (tracing === undefined) {
      nameTrace(traces, request, reply);
      done();
    } else if (PROBES.has(request.routeOptions.url ?? '')) {
      done();
    } else {
      const { method, headers } = request;
      followSpan(
        traces,
        request,
        reply,
        tracing.beginRequest(method, request.routeOptions.url, headers),
      ).within(done);
    }
  });
}

function nameTrace(traces: RequestTraces, { id, headers }: FastifyRequest, { raw }: FastifyReply): void {
  const ids = readTraceparent(headers.traceparent);
  if (ids === undefined) return;
  traces.begin(id, ids);
  // Comes in every case, also if the client has disconnected.
  raw.once('close', () => traces.end(id, ids));
}

function followSpan(
  traces: RequestTraces,
  { id }: FastifyRequest,
  { raw }: FastifyReply,
  span: RequestSpan,
): RequestSpan {
  const { ids } = span;
  if (ids !== undefined) traces.begin(id, ids);
  raw.once('close', () => {
    if (ids !== undefined) traces.end(id, ids);
    span.end({ status: raw.writableFinished ? raw.statusCode : undefined });
  });
  return span;
}
