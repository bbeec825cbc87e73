// Lets one piece of work be done at a time, and few wait for it.
import { RETRY_AFTER_SECONDS } from '../../platform/http/temporarily-unavailable.exception.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';

/** A page that was loaded again, or two. */
const MOST_WAITING = 4;

export class WorkQueue {
  /** Ends with the latest work that was asked for. */
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
