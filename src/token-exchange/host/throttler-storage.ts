// The port of request counts.
import type { ThrottlerStorage } from '@nestjs/throttler';

/**
 * The storage of @nestjs/throttler that counts requests for all processes. It has its own injection token, so that the storage of
 * the host's own limits is not used by accident. `perMinute` of an entry needs a `RefundingThrottlerStorage`: with any other, a
 * request is also counted by its address.
 */
export abstract class TokenExchangeThrottlerStorage implements ThrottlerStorage {
  abstract increment(
    ...hit: Parameters<ThrottlerStorage['increment']>
  ): ReturnType<ThrottlerStorage['increment']>;
}
