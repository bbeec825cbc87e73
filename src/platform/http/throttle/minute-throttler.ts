// Limits the requests per minute of each client to what one bucket covers: a flow, or the API.
import type { CanActivate, ExecutionContext, InjectionToken, Type } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ThrottlerGetTrackerFunction, ThrottlerLimitDetail, ThrottlerStorage } from '@nestjs/throttler';
import { ThrottlerGuard } from '@nestjs/throttler';
import { clientOf, RATE_LIMIT_PREFIX, TooManyRequestsError, rateLimitOf } from './rate-limit.js';
import { THROTTLE_STORAGE, WINDOW_MS, counterKey } from './counting.storage.js';

/**
 * The guard of one bucket of requests: all routes under it share its counters, methods and paths do not matter.
 * `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds) are sent with every answer; a refusal is left to an
 * error filter.
 * @rule D19 Over the limit: `Retry-After` beside the RateLimit headers, with one bucket per flow and client.
 * @param bucket names it among the counters
 * @param token injection token of the options
 * @param perMinute requests that a client may make within a minute of its first
 * @param getTracker whose requests are counted together
 */
export function minuteThrottler<Options>(
  bucket: string,
  token: InjectionToken<Options>,
  perMinute: (options: Options) => number,
  getTracker: ThrottlerGetTrackerFunction = ({ ip }: { readonly ip?: string }) => clientOf(ip),
): Type<CanActivate> {
  const generateKey = (_: ExecutionContext, client: string) => counterKey(bucket, client);

  @Injectable()
  class MinuteThrottlerGuard extends ThrottlerGuard {
    protected override readonly headerPrefix = RATE_LIMIT_PREFIX;

    constructor(
      @Inject(token) options: Options,
      @Inject(THROTTLE_STORAGE) storage: ThrottlerStorage,
      @Inject(Reflector) reflector: Reflector,
    ) {
      super([{ ttl: WINDOW_MS, limit: perMinute(options), getTracker, generateKey }], storage, reflector);
    }

    protected override throwThrottlingException(
      _: ExecutionContext,
      detail: ThrottlerLimitDetail,
    ): Promise<void> {
      throw new TooManyRequestsError(detail.timeToBlockExpire, rateLimitOf(detail, detail.limit));
    }
  }
  return MinuteThrottlerGuard;
}
