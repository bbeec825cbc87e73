// Headers that show a client its rate limit, and the refusal above it.
import type { ThrottlerLimitDetail } from '@nestjs/throttler';

/** How the headers of all limits begin. */
export const RATE_LIMIT_PREFIX = 'RateLimit';

/** Where a client stands within a limit. */
export interface RateLimit {
  readonly limit: number;
  /** Requests that still pass. */
  readonly remaining: number;
  /** Whole seconds until it begins anew, at least one. */
  readonly resetSeconds: number;
}

/** An answer that says where its client stands; without it, what the guard has sent is true. */
export interface RateLimited {
  readonly rateLimit?: RateLimit;
}

type Counted = Pick<ThrottlerLimitDetail, 'totalHits' | 'timeToExpire'>;

export function rateLimitOf({ totalHits, timeToExpire }: Counted, limit: number): RateLimit {
  return { limit, remaining: Math.max(0, limit - totalHits), resetSeconds: timeToExpire };
}

export function rateLimitHeaders({ limit, remaining, resetSeconds }: RateLimit): Record<string, string> {
  return {
    [`${RATE_LIMIT_PREFIX}-Limit`]: String(limit),
    [`${RATE_LIMIT_PREFIX}-Remaining`]: String(remaining),
    [`${RATE_LIMIT_PREFIX}-Reset`]: String(resetSeconds),
  };
}

/** A client is over its limit. `retryAfterSeconds`: whole seconds until its window ends, at least one. */
export class TooManyRequestsError extends Error {
  override readonly name = 'TooManyRequestsError';

  /** @param rateLimit the limit that is reached, where that is one of the client's own */
  constructor(
    readonly retryAfterSeconds: number,
    private readonly rateLimit?: RateLimit,
  ) {
    super(`too many requests; the next one passes in ${retryAfterSeconds} s`);
  }

  get headers(): Readonly<Record<string, string>> {
    const ofLimit = this.rateLimit && rateLimitHeaders(this.rateLimit);
    return { ...ofLimit, 'Retry-After': String(this.retryAfterSeconds) };
  }
}
