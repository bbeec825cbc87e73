// Limits of requests per minute: whose count together, the guard, the headers that show a client its limit, and the refusal above it.
import { isIPv4 } from 'node:net';
import type { CanActivate, ExecutionContext, InjectionToken, Type } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ThrottlerGetTrackerFunction, ThrottlerLimitDetail, ThrottlerStorage } from '@nestjs/throttler';
import { ThrottlerGuard } from '@nestjs/throttler';
import ipaddr from 'ipaddr.js';
import { THROTTLE_STORAGE, WINDOW_MS, counterKey } from './counting.storage.js';

/** What one network of IPv6 clients shares: the smallest that a provider hands out, in 16-bit groups. */
const IPV6_NETWORK_GROUPS = 4;
/** Some proxies write the port behind the address. */
const WITH_PORT = /^(?:\[(?<ipv6>[^\]]+)\]|(?<ipv4>[\d.]+))(?::\d+)?$/;

/**
 * The client that an address stands for: an IPv4 address as it is, also where it is mapped into IPv6, and of other
 * IPv6 addresses their /64, because a single client has all of that. What is no address counts as one client, so that
 * made-up ones are not worth anything.
 * @param address as the server's `request.ip` gives it; which hop that is, the server's trust in proxies has decided
 */
export function clientOf(address = ''): string {
  // Nearly every address is one already, and parsing would give it back.
  if (isIPv4(address)) return address;
  const parsed = parse(address);
  if (parsed === undefined) return 'unknown';
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, IPV6_NETWORK_GROUPS).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** Addresses that are mapped into IPv6 come out as IPv4. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const { ipv6, ipv4 } = WITH_PORT.exec(address)?.groups ?? {};
  const bare = ipv6 ?? ipv4 ?? address;
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined;
}

/** How the headers of all limits begin. */
const RATE_LIMIT_PREFIX = 'RateLimit';

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
    return { 'Retry-After': String(this.retryAfterSeconds), ...ofLimit };
  }
}

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
