// The log: one JSON object a line, on standard output, for our code and for Nest's own.
import type { LoggerService } from '@nestjs/common';
import type { DestinationStream, Logger } from 'pino';
import { pino } from 'pino';

const MAX_UNWRITTEN_BYTES = 16 * 1024 * 1024;

/** Lines are written when there are so many of them, or so old ones. */
const WRITE_AT_BYTES = 64 * 1024;
const WRITE_AFTER_MS = 50;

/** Injection token of the `LineOutput` of the log. */
export const LOG_OUTPUT = Symbol('LOG_OUTPUT');

/** The output of a log, for lines that are not its own and stand between those of it. */
export interface LineOutput {
  /** Whether lines that were taken can still be written. */
  readonly hasReader: boolean;
  /**
   * @param line with its end
   * @returns whether it was taken; it is dropped if too much waits for a reader already
   */
  write(line: string): boolean;
  /** Resolves when all lines up to now are written: never without a reader. */
  written(): Promise<void>;
}

/**
 * Standard output, written in blocks while requests go on: no request waits for a reader, and hundreds of lines share a write.
 * The rest is written when the process ends by itself; without a reader, lines above the limit are dropped.
 *
 * The blocks are of bytes: in a block of text pino's destination counts the bytes of all its lines again with every line.
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

  /** How many bytes wait to be written. */
  get unwrittenBytes(): number {
    return this.takenBytes - this.writtenBytes;
  }

  write(line: string): boolean {
    const { dropped } = this;
    const bytes = Buffer.from(line);
    if (this.hasReader) this.takenBytes += bytes.length;
    // Its types know blocks of text only.
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
   * The pipe is closed: pino writes nothing from then on, and no caller waits for it. After another error, as of a full disk, unwritten
   * lines stay for the next try. At the end of the process pino's own listener would try again, and fail.
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

  /** Once all that was kept has been read: the log itself says that it is not whole. */
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

/** Makes the process's logger. Lines carry `time` in ISO 8601 and `level` as a word. */
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
 * The members of an error that are logged. The others stay out: those of a failed statement hold its parameters, and with them
 * e-mail addresses and names (D23).
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  const { code } = error as NodeJS.ErrnoException;
  return { type: name, message, code, stack };
}

/** With `abortOnError: false` Nest logs what it also throws. Whoever catches it reports it. */
const RETHROWN = 'ExceptionHandler';

/** Lets Nest write its own lines through the same logger. */
export function nestLogger(logger: Logger): LoggerService {
  const at =
    (level: 'trace' | 'debug' | 'warn' | 'error' | 'fatal') =>
    (message: unknown, ...rest: unknown[]): void => {
      if (rest.at(-1) === RETHROWN) return;
      // Nest hands over the stack of an error before the context.
      const stack = level === 'error' && rest.length > 1 ? { stack: rest[0] } : {};
      logger[level]({ context: rest.at(-1), ...stack }, String(message));
    };
  return {
    // Nest's messages about its own start (modules, routes) help developers only.
    log: at('debug'),
    error: at('error'),
    warn: at('warn'),
    debug: at('debug'),
    verbose: at('trace'),
    fatal: at('fatal'),
  };
}

/** So long a reader of the log is waited for. */
const LONGEST_FLUSH_MS = 5_000;

/**
 * Waits for the log lines that are being written: the exit itself writes only those not begun. It would wait for ever for a
 * reader that does not read, so then the process is killed.
 */
export function exitAfterLog(code: number, logger: Logger): void {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LONGEST_FLUSH_MS);
  logger.flush(() => process.exit(code));
}
