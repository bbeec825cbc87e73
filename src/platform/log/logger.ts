// The log: one JSON object per line, on standard output, for our code and Nest's. Lines about a request have the ids of
// its trace.
import type { LoggerService } from '@nestjs/common';
import type { DestinationStream, Logger } from 'pino';
import { pino } from 'pino';
import { clientRequestIdOf } from '../http/http-messages.js';

const MAX_UNWRITTEN_BYTES = 16 * 1024 * 1024;

/** Lines are written when this much has accumulated, or after this time. */
const WRITE_AT_BYTES = 64 * 1024;
const WRITE_AFTER_MS = 50;

/** Injection token of the log's `LineOutput`. */
export const LOG_OUTPUT = Symbol('LOG_OUTPUT');

/** The log's output. Other code can write its own lines to it, between log lines. */
export interface LineOutput {
  /** Whether accepted lines can still be written. */
  readonly hasReader: boolean;
  /**
   * @param line with its line break
   * @returns false if the line was dropped because too much output waits for a reader
   */
  write(line: string): boolean;
  /** Resolves when all lines so far are written, or nobody can read them any more. Pending while the reader does not read. */
  written(): Promise<void>;
}

/**
 * Standard output, written in blocks while requests continue: no request waits for a reader, and hundreds of
 * lines share a write. A normal exit writes the rest. Without a reader, lines above the limit are dropped.
 *
 * The blocks contain bytes: with strings, pino's destination would count the bytes of all lines of a block
 * again for every line.
 */
export class StandardOutput implements DestinationStream, LineOutput {
  private readonly blocks = pino.destination({
    dest: 1,
    sync: false,
    contentMode: 'buffer',
    minLength: WRITE_AT_BYTES,
    maxWrite: 2 * WRITE_AT_BYTES,
    periodicFlush: WRITE_AFTER_MS,
    maxLength: MAX_UNWRITTEN_BYTES,
  });
  private dropped = 0;
  private takenBytes = 0;
  private writtenBytes = 0;
  private hasFailed = false;
  hasReader = true;
  private readonly waiting: { readonly upToBytes: number; readonly resolve: () => void }[] = [];

  constructor() {
    this.blocks.on('drop', (lines: Uint8Array) => {
      this.dropped += linesIn(lines);
      this.takenBytes -= lines.length;
    });
    this.blocks.on('drain', () => this.reportDropped());
    this.blocks.on('write', (bytes: number) => this.noteWritten(bytes));
    this.blocks.on('error', (error: NodeJS.ErrnoException) => this.onWriteError(error));
  }

  /** The number of bytes that are not written yet. */
  get unwrittenBytes(): number {
    return this.takenBytes - this.writtenBytes;
  }

  write(line: string): boolean {
    const { dropped } = this;
    const bytes = Buffer.from(line);
    if (this.hasReader) this.takenBytes += bytes.length;
    // The types allow strings only.
    this.blocks.write(bytes as unknown as string);
    return this.dropped === dropped;
  }

  async written(): Promise<void> {
    if (this.unwrittenBytes > 0)
      await new Promise<void>((resolve) => this.waiting.push({ upToBytes: this.takenBytes, resolve }));
  }

  /** Called by pino's own `flush`. */
  flush(whenDone: (error?: Error) => void): void {
    this.blocks.flush(whenDone);
  }

  /**
   * After EPIPE pino writes nothing any more, and no caller waits. After another error, such as a full disk,
   * unwritten lines are kept for the next attempt. At the exit, pino's own listener would try again and fail.
   */
  private onWriteError(error: NodeJS.ErrnoException): void {
    if (error.code !== 'EPIPE') {
      if (!this.hasFailed) process.prependOnceListener('exit', () => this.blocks.destroy());
      this.hasFailed = true;
      return;
    }
    this.hasReader = false;
    this.noteWritten(this.unwrittenBytes);
  }

  private noteWritten(bytes: number): void {
    this.writtenBytes += bytes;
    const stillWaiting = this.waiting.findIndex(({ upToBytes }) => upToBytes > this.writtenBytes);
    const written = this.waiting.splice(0, stillWaiting === -1 ? Infinity : stillWaiting);
    for (const { resolve } of written) resolve();
  }

  /** Called when all kept lines have been written: the log itself reports that lines are missing. */
  private reportDropped(): void {
    if (this.dropped === 0) return;
    const { dropped } = this;
    this.dropped = 0;
    const time = pino.stdTimeFunctions.isoTime();
    this.write(
      `{"level":"warn"${time},"dropped":${dropped},"msg":"lines were dropped: the output is not read"}\n`,
    );
  }
}

const LINE_END = 10;

function linesIn(block: Uint8Array): number {
  let count = 0;
  for (let at = block.indexOf(LINE_END); at !== -1; at = block.indexOf(LINE_END, at + 1)) count += 1;
  return count;
}

/** Creates the process's logger. Lines contain `time` in ISO 8601 and `level` as a word. */
export function createLogger(level: string, destination: DestinationStream = new StandardOutput()): Logger {
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
  };
  return pino(options, destination);
}

/**
 * The error properties that are logged. Others are omitted: a failed statement's error contains its
 * parameters, such as e-mail addresses and names (D23).
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  const { code } = error as NodeJS.ErrnoException;
  return { type: name, message, code, stack };
}

/** The context of errors that Nest logs and also throws (`abortOnError: false`). The code that catches them reports them. */
const RETHROWN = 'ExceptionHandler';

/** Returns a logger for Nest that writes to `logger`. */
export function nestLogger(logger: Logger): LoggerService {
  const at =
    (level: 'trace' | 'debug' | 'warn' | 'error' | 'fatal') =>
    (message: unknown, ...rest: unknown[]): void => {
      if (rest.at(-1) === RETHROWN) return;
      // Nest passes the stack of an error before the context.
      const stack = level === 'error' && rest.length > 1 ? { stack: rest[0] } : {};
      logger[level]({ context: rest.at(-1), ...stack }, String(message));
    };
  return {
    // Nest's messages about its own start (modules, routes) only help developers.
    log: at('debug'),
    error: at('error'),
    warn: at('warn'),
    debug: at('debug'),
    verbose: at('trace'),
    fatal: at('fatal'),
  };
}

/** How long an exit waits for the reader of the log. */
const LONGEST_FLUSH_MS = 5_000;

/**
 * Exits after the pending log lines are written; `process.exit` alone would lose writes in progress. If
 * nothing reads the log, the process is killed instead of waiting for ever.
 */
export function exitAfterLog(code: number, logger: Logger): void {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LONGEST_FLUSH_MS);
  logger.flush(() => process.exit(code));
}

/** Ids of a trace and of a span in it, in hexadecimal. */
export interface TraceIds {
  /** 32 digits. */
  readonly traceId: string;
  /** 16 digits: the service's span, or the caller's if there is no SDK. */
  readonly spanId: string;
}

/** Version, trace id, parent id and flags. Later versions may append more after a hyphen. */
const TRACEPARENT =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-[0-9a-f]{2}(?<rest>-.*)?$/;
const ONLY_ZEROS = /^0+$/;

/**
 * The ids of a `traceparent`; undefined if it is missing or malformed, which is no reason to refuse a request
 * (W3C Trace Context §3.2.2.3, also in level 2). Malformed are: version `ff`, an id of zeros, upper-case
 * letters, or additional fields in version `00`. Flags are ignored: the caller's wish to record a trace costs
 * nothing here.
 */
export function readTraceparent(field: string | string[] | undefined): TraceIds | undefined {
  const { version, traceId, spanId, rest } = TRACEPARENT.exec(String(field ?? ''))?.groups ?? {};
  if (traceId === undefined || spanId === undefined || version === 'ff') return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  return ONLY_ZEROS.test(traceId) || ONLY_ZEROS.test(spanId) ? undefined : { traceId, spanId };
}

/**
 * The traces of the requests in progress, by request id, which log lines have anyway. Passing the trace
 * through every call would cost each request, even without a trace.
 */
export class RequestTraces {
  private readonly byRequestId = new Map<string, TraceIds>();

  /**
   * A trusted proxy chooses request ids. If several concurrent requests share an id, their lines have the
   * first one's trace.
   */
  begin(requestId: string, ids: TraceIds): void {
    if (!this.byRequestId.has(requestId)) this.byRequestId.set(requestId, ids);
  }

  /** Call it for each begun trace, with the same object, however the request ends. */
  end(requestId: string, ids: TraceIds): void {
    if (this.byRequestId.get(requestId) === ids) this.byRequestId.delete(requestId);
  }

  /**
   * A logger that adds `traceId`, `spanId` and `clientRequestId` to lines with the `requestId` of a traced
   * request.
   */
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
