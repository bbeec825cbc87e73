// A value that costs something to read: asked for now and then only, and given up where no answer comes.
import { setTimeout as pause } from 'node:timers/promises';

const KEPT_MS = 10_000;
const PATIENCE_MS = 2_000;

/** However many ask, and however often, the source is asked once in `KEPT_MS`, and not again before it has answered. */
export class BoundedReading<T> {
  private value: T | undefined;
  private begunAtMs = Number.NEGATIVE_INFINITY;
  private running: Promise<void> | undefined;

  /** @param read may reject, or never end */
  constructor(private readonly read: () => Promise<T>) {}

  /** The value, `KEPT_MS` old at most; undefined where reading failed, or takes longer than `PATIENCE_MS`. */
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
