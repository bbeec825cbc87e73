// How long a sink is left alone after failures.

/** The wait grows with each failure, so that a recovering receiver is not overloaded. */
const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

export class BackOff {
  private failures = 0;
  private until = -Infinity;

  /** @param random returns a number from 0 up to 1 */
  constructor(private readonly random: () => number = Math.random) {}

  /** @param nowMs on a monotonic clock */
  isWaiting(nowMs: number): boolean {
    return nowMs < this.until;
  }

  /**
   * Doubles the wait, up to a minute, and shortens it at random by up to half, so that several senders do not
   * return at once.
   * @param leastMs the wait that the receiver has requested, in milliseconds
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
