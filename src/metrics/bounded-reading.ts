// Caches a value that is expensive to read, and limits the wait for it.
import { setTimeout as pause } from 'node:timers/promises';

const KEPT_MS = 10_000;
const PATIENCE_MS = 2_000;

/**
 * Reads the source at most once in `KEPT_MS`, and never again before it has answered, however many callers
 * there are.
 */
export class BoundedReading<T> {
  private value: T | undefined;
  private begunAtMs = Number.NEGATIVE_INFINITY;
  private running: Promise<void> | undefined;

  /** @param read may reject, or never settle */
  constructor(private readonly read: () => Promise<T>) {}

  /** The value, at most `KEPT_MS` old; undefined if the read fails or takes longer than `PATIENCE_MS`. */
  async latest(): Promise<T | undefined> {
    const isOld = performance.now() - this.begunAtMs >= KEPT_MS;
    if (this.running === undefined && isOld) this.begin();
    await Promise.race([this.running, pause(PATIENCE_MS, undefined, { ref: false })]);
    return this.value;
  }

  private begin(): void {
    this.begunAtMs = performance.now();
    this.value = undefined;
    this.running = this.read()
      .then(
        (value) => {
          this.value = value;
        },
        () => undefined,
      )
      .finally(() => (this.running = undefined));
  }
}
