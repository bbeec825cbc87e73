// The storage of throttle counters, in memory or in the database (database-counts.ts).
import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../clock.js';

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

/** In memory or in the database. */
interface Counts {
  hit(key: string, durationMs: number, limit: number): Count | Promise<Count>;
  refund(key: string, durationMs: number, ageMs: number): void | Promise<void>;
}

/** Unlike the storage of @nestjs/throttler, it has fixed windows, a bounded size and refunds. */
export class CountingStorage implements RefundingThrottlerStorage {
  constructor(private readonly counts: Counts) {}

  /**
   * @param durationMs length of a new window, in milliseconds
   * @returns the hits including this one, even if it is refused; times are in whole seconds, at least one
   */
  async increment(key: string, durationMs: number, limit: number) {
    const { hits, remainingMs } = await this.counts.hit(key, durationMs, limit);
    const timeToExpire = Math.max(1, Math.ceil(remainingMs / 1000));
    const isBlocked = hits > limit;
    return { totalHits: hits, timeToExpire, isBlocked, timeToBlockExpire: isBlocked ? timeToExpire : 0 };
  }

  async refund(key: string, durationMs: number, ageMs: number): Promise<void> {
    await this.counts.refund(key, durationMs, ageMs);
  }
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
 * Counters in memory. A hit above the limit is refused and not counted; otherwise it would block later hits
 * after refunds.
 */
@Injectable()
export class MemoryCounts {
  private readonly windows = new LRUCache<string, CountingWindow>({ max: MAX_KEYS });

  constructor(private readonly clock: Clock) {}

  hit(key: string, durationMs: number, limit: number): Count {
    const nowMs = this.clock.monotonicMs();
    const window = this.running(key, nowMs) ?? this.begin(key, nowMs, durationMs);
    const hits = window.hits + 1;
    if (hits <= limit) window.hits = hits;
    return { hits, remainingMs: window.endsAtMs - nowMs };
  }

  refund(key: string, _durationMs: number, ageMs: number): void {
    const nowMs = this.clock.monotonicMs();
    const window = this.running(key, nowMs);
    if (window !== undefined && window.hits > 0 && window.beginsAtMs <= nowMs - ageMs) window.hits -= 1;
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
