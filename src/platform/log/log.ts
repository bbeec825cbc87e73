// A log: pino, or any other logger of structured lines; and a warning of what may happen thousands of times a second.

/** Takes lines of some fields and a message. No field holds a secret, a token or an e-mail address. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Injection token of the log. */
export const LOGGER = Symbol('LOGGER');

/** Drops every line. */
export const SILENT: Log = { debug: drop, info: drop, warn: drop, error: drop };

function drop(): void {
  // Not wanted.
}

const QUIET_MS = 10_000;

/** Each line has how often it happened since the one before. */
export class RareWarning {
  private warnedAtMs = Number.NEGATIVE_INFINITY;
  private unsaid = 0;

  constructor(
    private readonly log: Pick<Log, 'warn'>,
    private readonly message: string,
  ) {}

  happened(): void {
    this.unsaid += 1;
    const nowMs = performance.now();
    if (nowMs - this.warnedAtMs < QUIET_MS) return;
    this.log.warn({ count: this.unsaid }, this.message);
    this.warnedAtMs = nowMs;
    this.unsaid = 0;
  }
}
