// Tracing: spans if the operator has loaded an SDK. See logger.ts for the trace ids in log lines.
import type { Attributes, Span, Tracer } from '@opentelemetry/api';
import {
  context,
  isSpanContextValid,
  propagation,
  ProxyTracerProvider,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { VERSION } from '../version.js';
import type { TraceIds } from './logger.js';

const NAME = 'embedded-token-exchange';

/** A step of a request, or a background job. */
interface TracedWork {
  readonly name: string;
  /** Fixed strings, and names from the configuration. */
  readonly attributes: Attributes;
  /** The reason for an error that is an expected response; undefined for a bug. */
  readonly reasonOf: (error: unknown) => string | undefined;
}

/** The span of one request. */
interface RequestSpan {
  readonly ids: TraceIds | undefined;
  /** Runs `work` in the context of the span. */
  within(work: () => void): void;
  /** @param status of the response; undefined if the client disconnected earlier */
  end(status: number | undefined): void;
}

/**
 * @rule D92 Spans are created only through the OpenTelemetry API; the operator decides what records them.
 * They contain fixed strings, the route's pattern, ids that are not secret, and names from the configuration.
 * They contain no error message, which may repeat a token's content. See server.ts for the behaviour without
 * an SDK.
 */
export class Tracing {
  private constructor(private readonly tracer: Tracer) {}

  /** Undefined if no SDK is registered yet: it must be loaded before the service. */
  static registered(): Tracing | undefined {
    const provider = trace.getTracerProvider();
    const isUntraced =
      provider instanceof ProxyTracerProvider && provider.getDelegateTracer(NAME, VERSION) === undefined;
    return isUntraced ? undefined : new Tracing(provider.getTracer(NAME, VERSION));
  }

  /**
   * Begins a request's span, in the trace that the operator's propagators find in its headers. The operator's
   * sampler decides whether it is recorded.
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

  /** Runs work in its own span. */
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

/** The class of an error; never its message. */
function classOf(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error;
}
