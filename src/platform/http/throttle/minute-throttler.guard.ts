// Limits the requests per minute of each client to what one bucket covers: a flow, or the API.
import type { ExecutionContext } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { ThrottlerLimitDetail, ThrottlerStorage } from '@nestjs/throttler';
import { ThrottlerGuard } from '@nestjs/throttler';
import { clientOf } from './client-address.js';
import { RATE_LIMIT_PREFIX, rateLimitHeaders, rateLimitOf, TooManyRequestsError } from './rate-limit.js';

/** Injection token of the `ThrottlerStorage` that the guards count in. */
export const THROTTLE_STORAGE = Symbol('THROTTLE_STORAGE');

/** Length of a throttle's window: the limits are per minute. */
export const WINDOW_MS = 60_000;

/** A name, and the number of requests that a client may make within a minute of its first. */
interface Bucket {
  /** Names it among the counters. */
  readonly name: string;
  readonly perMinute: number;
}

/** The name of a counter: what is limited, and whose hits it counts. */
export function counterKey(bucket: string, client: string): string {
  return `${bucket} ${client}`;
}

/** A response of Fastify or Express; the package asks no more of it. */
interface HeaderTaker {
  header(name: string, value: string): unknown;
}

/**
 * One bucket of requests. All routes under guards of one bucket share its counters: methods and paths do not matter.
 * `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds) are sent with every answer; the body of a
 * refusal is left to an error filter.
 * @rule D19 Over the limit: `Retry-After` beside the RateLimit headers, with one bucket per flow and client.
 * See flow.guards.ts for the buckets of the flows, the controllers of revocation and logout for theirs, and each flow's error filter for the body of the 429.
 */
@Injectable()
export abstract class MinuteThrottlerGuard extends ThrottlerGuard {
  protected override readonly headerPrefix = RATE_LIMIT_PREFIX;

  /**
   * Nest keeps in mind, by their positions, what the package's own constructor injects (options, storage): one with another
   * order must say `@Inject` for what stands in their places.
   */
  constructor(
    private readonly bucket: Bucket,
    storage: ThrottlerStorage,
    reflector: Reflector,
  ) {
    super([{ ttl: WINDOW_MS, limit: bucket.perMinute }], storage, reflector);
  }

  /** Requests of one address are counted together, unless a bucket overrides this. */
  protected override getTracker({ ip }: { readonly ip?: string }): Promise<string> {
    return Promise.resolve(clientOf(ip));
  }

  protected override generateKey(_context: ExecutionContext, client: string): string {
    return counterKey(this.bucket.name, client);
  }

  /** The package has sent `Retry-After` by now, and would leave the other headers out. */
  protected override throwThrottlingException(
    context: ExecutionContext,
    detail: ThrottlerLimitDetail,
  ): Promise<void> {
    const response = context.switchToHttp().getResponse<HeaderTaker>();
    const headers = rateLimitHeaders(rateLimitOf(detail, detail.limit));
    for (const [name, value] of Object.entries(headers)) response.header(name, value);
    throw new TooManyRequestsError(detail.timeToBlockExpire);
  }
}
