// The log interface (pino, or any other structured logger), and a rate-limited warning.

/** Writes lines with fields and a message. No field contains a secret, a token or an e-mail address. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Injection token of the log. */
export const LOGGER = Symbol('LOGGER');

/** Discards every line. */
export const SILENT: Log = { debug: drop, info: drop, warn: drop, error: drop };

function drop(): void {
  // Deliberately empty.
}

const QUIET_MS = 10_000;

/** Logs a frequent event at most once per 10 seconds, with the number of occurrences since the last line. */
export class RareWarning {
  private warnedAtMs = Number.NEGATIVE_INFINITY;
  private unreported = 0;

  constructor(
    private readonly log: Pick<Log, 'warn'>,
    private readonly message: string,
  ) {}

  happened(): void {
    this.unreported += 1;
    const nowMs = performance.now();
    if (nowMs - this.warnedAtMs < QUIET_MS) return;
    this.log.warn({ count: this.unreported }, this.message);
    this.warnedAtMs = nowMs;
    this.unreported = 0;
  }
}
