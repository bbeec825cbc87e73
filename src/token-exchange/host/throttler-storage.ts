// The port of request counts.
import type { ThrottlerStorage } from '@nestjs/throttler';

/**
 * The storage of @nestjs/throttler that counts requests for all processes. It has a token of its own, so that the storage of the host's
 * own limits, which need not refund, is not used unasked. `perMinute` of an entry needs a `RefundingThrottlerStorage`: with any other a
 * request stays counted by its address, too.
 */
export abstract class TokenExchangeThrottlerStorage implements ThrottlerStorage {
  abstract increment(
    ...hit: Parameters<ThrottlerStorage['increment']>
  ): ReturnType<ThrottlerStorage['increment']>;
}
