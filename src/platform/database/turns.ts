// Lets so many transactions of requests run at a time. The others wait, for as long as the database serves.
import { unavailabilityOf } from './unavailable.js';

interface Waiting {
  readonly begin: () => void;
  readonly giveUp: (error: unknown) => void;
}

/** Shared statements take the rest of the pool, so that a rush of new users does not hold up those who are known. */
const AT_ONCE = 8;

/**
 * The wait has no time limit of its own: a burst of new users is served late rather than refused. When the database has served none
 * since a transaction began that it does not serve, all who wait are refused with that one.
 */
export class Turns {
  private readonly waiting: Waiting[] = [];
  private running = 0;
  private servedAtMs = -Infinity;

  /** @throws what the work throws; or the error of another's work, when this one has not begun */
  async take<T>(work: () => Promise<T>): Promise<T> {
    await this.begin();
    const beganAtMs = performance.now();
    try {
      const result = await work();
      this.servedAtMs = performance.now();
      return result;
    } catch (error) {
      if (unavailabilityOf(error) === undefined) this.servedAtMs = performance.now();
      else if (this.servedAtMs < beganAtMs) this.giveUpAll(error);
      throw error;
    } finally {
      this.end();
    }
  }

  private begin(): Promise<void> | undefined {
    if (this.running === AT_ONCE) return new Promise((begin, giveUp) => this.waiting.push({ begin, giveUp }));
    this.running += 1;
    return undefined;
  }

  private end(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.running -= 1;
    else next.begin();
  }

  private giveUpAll(error: unknown): void {
    for (const { giveUp } of this.waiting.splice(0)) giveUp(error);
  }
}
