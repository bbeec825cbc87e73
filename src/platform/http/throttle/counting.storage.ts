// What throttles count in: one storage, whose counts are in memory or in the database (database-counts.ts).
import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../clock.js';

/** Injection token of the `ThrottlerStorage` that throttles count in. */
export const THROTTLE_STORAGE = Symbol('THROTTLE_STORAGE');

/** Length of a throttle's window: the limits are per minute. */
export const WINDOW_MS = 60_000;

/** The limit of a hit that is only counted and never refused. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** The name of a counter: what is limited, and whose hits it counts. */
export function counterKey(bucket: string, client: string): string {
  return `${bucket} ${client}`;
}

/**
 * The storage of @nestjs/throttler can only count up. One that also takes back has to keep to two things more: a hit that
 * `increment` refuses is not counted, and one with the limit `NO_LIMIT` is counted, however many there are.
 */
export interface RefundingThrottlerStorage extends ThrottlerStorage {
  /**
   * Takes back one hit of a key, which was counted and not refused. Where its window has ended there is nothing to take back.
   * @param durationMs length of the windows of that key, in milliseconds
   * @param ageMs how long ago the hit was counted, at most, in milliseconds
   */
  refund(key: string, durationMs: number, ageMs: number): Promise<void>;
}

export function canRefund(storage: ThrottlerStorage): storage is RefundingThrottlerStorage {
  return typeof (storage as Partial<RefundingThrottlerStorage>).refund === 'function';
}

/** Where a key stands in its running window. */
export interface Count {
  /** With the present hit, also where that is refused. */
  readonly hits: number;
  /** Milliseconds until the window ends. */
  readonly remainingMs: number;
}

/** In memory or in the database. */
interface Counts {
  hit(key: string, durationMs: number, limit: number): Count | Promise<Count>;
  refund(key: string, durationMs: number, ageMs: number): void | Promise<void>;
}

/** Unlike the storage that @nestjs/throttler brings, it has fixed windows, a bounded size, and refunds. */
export class CountingStorage implements RefundingThrottlerStorage {
  constructor(private readonly counts: Counts) {}

  /**
   * @param durationMs length of a window that begins now, in milliseconds
   * @returns the hits with this one, also where it is refused; times are in whole seconds, at least one
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

/** Some 15 MB when full. */
export const MAX_KEYS = 100_000;

/** On the monotonic clock: who sets the other one opens or prolongs no window. */
interface CountingWindow {
  hits: number;
  readonly beginsAtMs: number;
  readonly endsAtMs: number;
}

/**
 * A hit over the limit is refused and not counted: it would stand in the way of those after it, once others are refunded.
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

/** Most that one client address, or one token of the instance, adds within a minute. */
export const RECORDED_PER_MINUTE = 10;
/** Most that all strangers together add: addresses of IPv6 cost nothing. */
const STRANGERS_PER_MINUTE = 600;

/** Counts a record of one sender. @returns whether it is one too many */
export function isOver(counts: MemoryCounts, key: string, limit = RECORDED_PER_MINUTE): boolean {
  return counts.hit(key, WINDOW_MS, limit).hits > limit;
}

/**
 * Counts a record of a stranger. In memory, since what a stranger sends must not become statements of the database.
 * Strangers fill neither log nor trail (D79): one address has ten records a minute, and all together 600.
 * @param what is recorded
 * @returns whether it is one too many
 */
export function isOverOfStrangers(counts: MemoryCounts, what: string, clientAddress: string): boolean {
  if (isOver(counts, counterKey(what, clientAddress))) return true;
  return isOver(counts, counterKey(what, 'strangers'), STRANGERS_PER_MINUTE);
}
