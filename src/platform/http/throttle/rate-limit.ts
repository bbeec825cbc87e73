// Request limits per minute: who shares a counter, the guard, the headers with the limit's state, the refusal, and the
// storage of the counters, in memory or in the database (database-counts.ts).
import { isIPv4 } from 'node:net';
import type { CanActivate, ExecutionContext, InjectionToken, Type } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ThrottlerGetTrackerFunction, ThrottlerLimitDetail, ThrottlerStorage } from '@nestjs/throttler';
import { ThrottlerGuard } from '@nestjs/throttler';
import ipaddr from 'ipaddr.js';
import { Clock } from '../../clock.js';
import { recentlyUsed } from '../../recently-used.js';

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

/** Injection token of the throttles' `ThrottlerStorage`. */
export const THROTTLE_STORAGE = Symbol('THROTTLE_STORAGE');

/** Length of a throttle's window: the limits are per minute. */
export const WINDOW_MS = 60_000;

/** The limit of a hit that is counted but never refused. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** The name of a counter: the limit and the client. */
export function counterKey(bucket: string, client: string): string {
  return `${bucket} ${client}`;
}

/**
 * The storage of @nestjs/throttler can only count up. A storage with refunds also guarantees two things: a
 * hit that `increment` refuses is not counted, and a hit with the limit `NO_LIMIT` is always counted.
 */
export interface RefundingThrottlerStorage extends ThrottlerStorage {
  /**
   * Takes back one hit that was counted and not refused. Has no effect if its window has ended.
   * @param durationMs length of the key's windows, in milliseconds
   * @param ageMs the greatest age of the hit, in milliseconds
   */
  refund(key: string, durationMs: number, ageMs: number): Promise<void>;
}

export function canRefund(storage: ThrottlerStorage): storage is RefundingThrottlerStorage {
  return typeof (storage as Partial<RefundingThrottlerStorage>).refund === 'function';
}

/** The state of a key's current window. */
export interface Count {
  /** Including the current hit, even if it is refused. */
  readonly hits: number;
  /** Milliseconds until the window ends. */
  readonly remainingMs: number;
}

/** The answer of a storage. Times are in whole seconds, at least one. */
export type Verdict = Awaited<ReturnType<ThrottlerStorage['increment']>>;

export function verdictOf({ hits, remainingMs }: Count, limit: number): Verdict {
  const timeToExpire = Math.max(1, Math.ceil(remainingMs / 1000));
  const isBlocked = hits > limit;
  return { totalHits: hits, timeToExpire, isBlocked, timeToBlockExpire: isBlocked ? timeToExpire : 0 };
}

/** About 15 MB when full. */
export const MAX_KEYS = 100_000;

/** On the monotonic clock: setting the system clock neither opens nor extends a window. */
interface CountingWindow {
  hits: number;
  readonly beginsAtMs: number;
  readonly endsAtMs: number;
}

/**
 * Counters in memory. Unlike the storage of @nestjs/throttler, it has fixed windows, a bounded size and refunds. A
 * hit above the limit is refused and not counted; otherwise it would block later hits after refunds.
 */
@Injectable()
export class MemoryCounts implements RefundingThrottlerStorage {
  private readonly windows = recentlyUsed<CountingWindow>(MAX_KEYS);

  constructor(private readonly clock: Clock) {}

  increment(key: string, durationMs: number, limit: number): Promise<Verdict> {
    return Promise.resolve(verdictOf(this.hit(key, durationMs, limit), limit));
  }

  hit(key: string, durationMs: number, limit: number): Count {
    const nowMs = this.clock.monotonicMs();
    const window = this.running(key, nowMs) ?? this.begin(key, nowMs, durationMs);
    const hits = window.hits + 1;
    if (hits <= limit) window.hits = hits;
    return { hits, remainingMs: window.endsAtMs - nowMs };
  }

  refund(key: string, _durationMs: number, ageMs: number): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    const window = this.running(key, nowMs);
    if (window !== undefined && window.hits > 0 && window.beginsAtMs <= nowMs - ageMs) window.hits -= 1;
    return Promise.resolve();
  }

  private running(key: string, nowMs: number): CountingWindow | undefined {
    const window = this.windows.get(key);
    return window !== undefined && nowMs < window.endsAtMs ? window : undefined;
  }

  private begin(key: string, beginsAtMs: number, durationMs: number): CountingWindow {
    const window = { hits: 0, beginsAtMs, endsAtMs: beginsAtMs + durationMs };
    this.windows.set(key, window);
    return window;
  }
}

/** How many records one client address, or one access token, may add per minute. */
export const RECORDED_PER_MINUTE = 10;
/** How many records all unauthenticated clients may add together: IPv6 addresses cost nothing. */
const STRANGERS_PER_MINUTE = 600;

/** Counts a sender's record. @returns whether the limit is exceeded */
export function isOver(counts: MemoryCounts, key: string, limit = RECORDED_PER_MINUTE): boolean {
  return counts.hit(key, WINDOW_MS, limit).hits > limit;
}

/**
 * Counts an unauthenticated client's record, in memory, so that its requests cause no database statements.
 * One address has ten records a minute, and all together 600, so that they cannot flood log or trail (D79).
 * @param what the kind of record
 * @returns whether a limit is exceeded
 */
export function isOverOfStrangers(counts: MemoryCounts, what: string, clientAddress: string): boolean {
  if (isOver(counts, counterKey(what, clientAddress))) return true;
  return isOver(counts, counterKey(what, 'strangers'), STRANGERS_PER_MINUTE);
}
