// A line of the log for what may happen thousands of times a second: one in ten seconds says how often.
import type { Logger } from 'pino';

const QUIET_MS = 10_000;

export class RareWarning {
  private warnedAtMs = Number.NEGATIVE_INFINITY;
  private unsaid = 0;

  /** @param message what happened; the line's `count` says how often since the line before */
  constructor(
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly message: string,
  ) {}

  happened(): void {
    this.unsaid += 1;
    const nowMs = performance.now();
    if (nowMs - this.warnedAtMs < QUIET_MS) return;
    this.logger.warn({ count: this.unsaid }, this.message);
    this.warnedAtMs = nowMs;
    this.unsaid = 0;
  }
}
