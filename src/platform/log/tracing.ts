// Traces: spans where the operator has loaded an SDK, and the trace of a request in its log lines.
import type { Attributes, Span, Tracer } from '@opentelemetry/api';
import {
  ProxyTracerProvider,
  SpanKind,
  SpanStatusCode,
  context,
  isSpanContextValid,
  propagation,
  trace,
} from '@opentelemetry/api';
import type { Logger } from 'pino';
import { VERSION } from '../version.js';
import { clientRequestIdOf } from './request-id.js';

const NAME = 'embedded-token-exchange';

/** A step of a request, or of work in the background. */
interface TracedWork {
  readonly name: string;
  /** Fixed words, and names from the configuration. */
  readonly attributes: Attributes;
  /** The word for an error that is an answer and no fault. */
  readonly reasonOf: (error: unknown) => string | undefined;
}

/** The span of one request. */
interface RequestSpan {
  readonly ids: TraceIds | undefined;
  /** Runs what follows as part of the span. */
  within(work: () => void): void;
  /** @param status of the answer; undefined if the client disconnected before */
  end(status: number | undefined): void;
}

/**
 * @rule D92 Spans are made through the API of OpenTelemetry alone: who makes something of them is the operator's choice. They
 * hold fixed words, the route's pattern, ids that are not secret and names from the configuration: no error's message, which
 * may hold what a token says. See server.ts for what is read without an SDK.
 */
export class Tracing {
  private constructor(private readonly tracer: Tracer) {}

  /** Undefined where no SDK has been registered by now: it must be loaded before the service. */
  static registered(): Tracing | undefined {
    const provider = trace.getTracerProvider();
    const isUntraced =
      provider instanceof ProxyTracerProvider && provider.getDelegateTracer(NAME, VERSION) === undefined;
    return isUntraced ? undefined : new Tracing(provider.getTracer(NAME, VERSION));
  }

  /**
   * Begins the span of a request, in the trace that its headers name, by the operator's propagators. Whether it is recorded is
   * for the operator's sampler to say.
   */
  beginRequest(method: string, route: string | undefined, headers: object): RequestSpan {
    const name = route === undefined ? method : `${method} ${route}`;
    const attributes = { 'http.request.method': method, 'http.route': route };
    const parent = propagation.extract(context.active(), headers);
    const span = this.tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    const inside = trace.setSpan(parent, span);
    return {
      ids: idsOf(span),
      within: (work) => context.with(inside, work),
      end: (status) => endRequest(span, status),
    };
  }

  /** Runs work inside a span of its own, which ends with it. */
  inSpan<T>({ name, attributes, reasonOf }: TracedWork, work: () => Promise<T>): Promise<T> {
    return this.tracer.startActiveSpan(name, { attributes }, async (span) => {
      try {
        return await work();
      } catch (error) {
        const reason = reasonOf(error);
        span.setAttribute('error.type', reason ?? classOf(error));
        if (reason === undefined) span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
  }
}

function endRequest(span: Span, status: number | undefined): void {
  if (status === undefined) span.setAttribute('error.type', 'client_gone');
  else span.setAttribute('http.response.status_code', status);
  if (status !== undefined && status >= 500) {
    span.setAttribute('error.type', String(status));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

function idsOf(span: Span): TraceIds | undefined {
  const ids = span.spanContext();
  return isSpanContextValid(ids) ? { traceId: ids.traceId, spanId: ids.spanId } : undefined;
}

/** Never its message. */
function classOf(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error;
}

/** Ids of a trace and of a span in it, in hexadecimal. */
export interface TraceIds {
  /** 32 digits. */
  readonly traceId: string;
  /** 16 digits: of the service's span; without an SDK of the caller's. */
  readonly spanId: string;
}

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

/**
 * Which trace each request under way belongs to. Lines find theirs by the request id that they have anyhow: to carry it through
 * every call would cost each request, also those without a trace.
 */
export class RequestTraces {
  private readonly byRequestId = new Map<string, TraceIds>();

  /** A trusted proxy chooses request ids: of several under way with one id the first has its trace in the lines of all. */
  begin(requestId: string, ids: TraceIds): void {
    if (!this.byRequestId.has(requestId)) this.byRequestId.set(requestId, ids);
  }

  /** To be called for each that has begun, with the same object, however its request ends. */
  end(requestId: string, ids: TraceIds): void {
    if (this.byRequestId.get(requestId) === ids) this.byRequestId.delete(requestId);
  }

  /** A logger that writes as the given one does, with `traceId`, `spanId` and `clientRequestId` in lines with the `requestId` of such a request. */
  loggerOn(logger: Logger): Logger {
    return logger.child({}, { formatters: { log: (line) => this.withTrace(line) } });
  }

  private withTrace(line: object): object {
    const { requestId } = line as { requestId?: unknown };
    if (typeof requestId !== 'string') return line;
    const [ids, clientRequestId] = [this.byRequestId.get(requestId), clientRequestIdOf(requestId)];
    if (ids === undefined && clientRequestId === undefined) return line;
    return { ...line, ...ids, ...(clientRequestId !== undefined && { clientRequestId }) };
  }
}
