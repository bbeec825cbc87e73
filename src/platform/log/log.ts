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

export class RareWarning {
  private warnedAtMs = Number.NEGATIVE_INFINITY;
  private unsaid = 0;

  /** @param warn gets how often it happened since the previous warning */
  constructor(private readonly warn: (count: number) => void) {}

  happened(): void {
    this.unsaid += 1;
    const nowMs = performance.now();
    if (nowMs - this.warnedAtMs < QUIET_MS) return;
    this.warn(this.unsaid);
    this.warnedAtMs = nowMs;
    this.unsaid = 0;
  }
}
