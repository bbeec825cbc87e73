// How long to wait after failures, ever longer, so that who comes back is not run over.

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

  /** Twice as long as after the failure before, a minute at most, and up to half of it less: several do not return in step. */
  failed(nowMs: number): void {
    const longest = Math.min(FIRST_MS * 2 ** this.failures, LONGEST_MS);
    this.failures += 1;
    this.until = nowMs + longest * (1 - this.random() / 2);
  }

  succeeded(): void {
    this.failures = 0;
    this.until = -Infinity;
  }
}
