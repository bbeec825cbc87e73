// Runs one task at a time, and lets a few wait.
import { RETRY_AFTER_SECONDS } from '../../platform/http/temporarily-unavailable.exception.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';

/** Enough for a page or two that are reloaded. */
const MOST_WAITING = 4;

export class WorkQueue {
  /** Resolves with the task that was added last. */
  private latest: Promise<unknown> = Promise.resolve();
  /** The number of running and waiting tasks. */
  private asked = 0;

  /** @throws TooManyRequestsError if too many tasks wait */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.asked > MOST_WAITING) throw new TooManyRequestsError(RETRY_AFTER_SECONDS.queue);
    this.asked += 1;
    const answer = this.latest.then(work).finally(() => (this.asked -= 1));
    this.latest = answer.catch(() => undefined);
    return answer;
  }
}
