// Limits how many tasks run at once, and lets a few wait in order.
import { RETRY_AFTER_SECONDS } from '../temporarily-unavailable.exception.js';
import { TooManyRequestsError } from './rate-limit.js';

interface QueueLimits {
  readonly atOnce: number;
  readonly waiting: number;
  readonly longestWaitMs: number;
}

export class WorkQueue {
  private running = 0;
  /** Oldest first. */
  private readonly waiting = new Set<() => void>();

  constructor(private readonly limits: QueueLimits) {}

  /** @throws TooManyRequestsError if too many tasks wait, or this one waits too long */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.limits.atOnce) this.running += 1;
    else await this.waitForTurn();
    try {
      return await work();
    } finally {
      this.startNext();
    }
  }

  private waitForTurn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = () => reject(new TooManyRequestsError(RETRY_AFTER_SECONDS.queue));
      if (this.waiting.size >= this.limits.waiting) return refuse();
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.delete(begin);
        refuse();
      }, this.limits.longestWaitMs);
      this.waiting.add(begin);
    });
  }

  private startNext(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.running -= 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
