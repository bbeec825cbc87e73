// Puts the trace of a request, and what its client called it, into the log lines about it.
import type { Logger } from 'pino';
import { clientRequestIdOf } from './request-id.js';

/** Ids of a trace and of a span in it, in hexadecimal. */
export interface TraceIds {
  /** 32 digits. */
  readonly traceId: string;
  /** 16 digits: of the service's span; without an SDK of the caller's. */
  readonly spanId: string;
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
