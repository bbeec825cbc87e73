// Does one piece of work at a time, and lets a few wait.
import { RETRY_AFTER_SECONDS } from '../../platform/http/temporarily-unavailable.exception.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';

/** For a page that is loaded again, or two. */
const MOST_WAITING = 4;

export class WorkQueue {
  /** Resolves with the work that was asked for last. */
  private latest: Promise<unknown> = Promise.resolve();
  /** How many are at work or wait. */
  private asked = 0;

  /** @throws TooManyRequestsError when so many wait already */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.asked > MOST_WAITING) throw new TooManyRequestsError(RETRY_AFTER_SECONDS.queue);
    this.asked += 1;
    const answer = this.latest.then(work).finally(() => (this.asked -= 1));
    this.latest = answer.catch(() => undefined);
    return answer;
  }
}
