// How long a sink of the audit trail is left alone after failures.

/** The wait grows with each failure, so that a receiver that comes back is not overrun. */
const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

export class BackOff {
  private failures = 0;
  private until = -Infinity;

  /** @param random from 0 up to 1 */
  constructor(private readonly random: () => number = Math.random) {}

  /** @param nowMs on a monotonic clock */
  isWaiting(nowMs: number): boolean {
    return nowMs < this.until;
  }

  /**
   * Twice as long as after the failure before, a minute at most, and up to half of it less: several do not return in step.
   * @param leastMs the wait that the receiver asks for
   */
  failed(nowMs: number, leastMs = 0): void {
    const longest = Math.min(FIRST_MS * 2 ** this.failures, LONGEST_MS);
    this.failures += 1;
    this.until = nowMs + Math.max(leastMs, longest * (1 - this.random() / 2));
  }

  succeeded(): void {
    this.failures = 0;
    this.until = -Infinity;
  }
}
