// The refusal of a throttled request, before the exception filter of a flow or of the API gives it a body.
import type { RateLimit } from './rate-limit.js';
import { rateLimitHeaders } from './rate-limit.js';

/** A client is over its limit. `retryAfterSeconds`: whole seconds until its window ends, at least one. */
export class TooManyRequestsError extends Error {
  override readonly name = 'TooManyRequestsError';

  /** @param rateLimit the limit that is reached, unless a guard has sent its headers already */
  constructor(
    readonly retryAfterSeconds: number,
    private readonly rateLimit?: RateLimit,
  ) {
    super(`too many requests; the next one passes in ${retryAfterSeconds} s`);
  }

  /** What is still to be sent. */
  get headers(): Readonly<Record<string, string>> | undefined {
    if (this.rateLimit === undefined) return undefined;
    return { ...rateLimitHeaders(this.rateLimit), 'Retry-After': String(this.retryAfterSeconds) };
  }
}
