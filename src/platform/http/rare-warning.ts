// A warning of what may happen thousands of times a second: one in `QUIET_MS` says how often it did.

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
