// Request limits per minute: who shares a counter, the guard, the headers with the limit's state, and the
// refusal.
import { isIPv4 } from 'node:net';
import type { CanActivate, ExecutionContext, InjectionToken, Type } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ThrottlerGetTrackerFunction, ThrottlerLimitDetail, ThrottlerStorage } from '@nestjs/throttler';
import { ThrottlerGuard } from '@nestjs/throttler';
import ipaddr from 'ipaddr.js';
import { counterKey, THROTTLE_STORAGE, WINDOW_MS } from './counting.storage.js';

/** The 16-bit groups of an IPv6 network that share a counter: a /64, the smallest that providers assign. */
const IPV6_NETWORK_GROUPS = 4;
/** Some proxies append the port to the address. */
const WITH_PORT = /^(?:\[(?<ipv6>[^\]]+)\]|(?<ipv4>[\d.]+))(?::\d+)?$/;

/**
 * The client behind an address. An IPv4 address is used as it is, even if it is mapped into IPv6. Other IPv6
 * addresses share their /64, because a single client has all of it. Invalid addresses share one client, so
 * that inventing them gains nothing.
 * @param address the server's `request.ip`, which its proxy settings determine
 */
export function clientOf(address = ''): string {
  // Nearly every address is IPv4 already; parsing would return it unchanged.
  if (isIPv4(address)) return address;
  const parsed = parse(address);
  if (parsed === undefined) return 'unknown';
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, IPV6_NETWORK_GROUPS).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** Returns addresses that are mapped into IPv6 as IPv4. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const { ipv6, ipv4 } = WITH_PORT.exec(address)?.groups ?? {};
  const bare = ipv6 ?? ipv4 ?? address;
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined;
}

/** The prefix of the limit headers. */
const RATE_LIMIT_PREFIX = 'RateLimit';

/** The state of a client's limit. */
export interface RateLimit {
  readonly limit: number;
  /** Requests that are still allowed. */
  readonly remaining: number;
  /** Whole seconds until the next window, at least one. */
  readonly resetSeconds: number;
}

/** A response that may replace the limit headers which the guard has set. */
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

/** The client is above its limit. `retryAfterSeconds`: whole seconds until its window ends, at least one. */
export class TooManyRequestsError extends Error {
  override readonly name = 'TooManyRequestsError';

  /** @param rateLimit the exceeded limit, if it is the client's own */
  constructor(
    readonly retryAfterSeconds: number,
    private readonly rateLimit?: RateLimit,
  ) {
    super(`too many requests; the next one passes in ${retryAfterSeconds} s`);
  }

  get headers(): Readonly<Record<string, string>> {
    const ofLimit = this.rateLimit && rateLimitHeaders(this.rateLimit);
    return { 'Retry-After': String(this.retryAfterSeconds), ...ofLimit };
  }
}

/**
 * Creates the guard of one bucket: its routes share their counters, whatever the method and path. Every
 * response has `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds). An error filter
 * answers refusals.
 * @rule D19 Above the limit: `Retry-After` and the RateLimit headers, with one bucket per flow and client.
 * @param bucket the name of the counters
 * @param token injection token of the options
 * @param perMinute how many requests a client may send within a minute of its first
 * @param getTracker returns the client that the counter belongs to
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
