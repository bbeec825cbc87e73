// Counts requests in the memory of this process.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../clock.js';
import type { ThrottleVerdict } from './counting-windows.js';
import { CountingWindows, verdictOf } from './counting-windows.js';
import type { RefundingThrottlerStorage } from './refunding-throttler.storage.js';

/**
 * One counter per key, within a fixed window that the first hit begins. Unlike the storage that @nestjs/throttler
 * brings, it has a bounded size however many addresses come, and one number per key however many hits.
 */
@Injectable()
export class MemoryThrottlerStorage implements RefundingThrottlerStorage {
  private readonly windows: CountingWindows;

  constructor(private readonly clock: Clock) {
    this.windows = new CountingWindows(clock);
  }

  /**
   * A hit over the limit is refused and not counted: it would stand in the way of those after it, once others are refunded.
   * @param durationMs length of a window that begins now, in milliseconds
   */
  async increment(key: string, durationMs: number, limit: number): Promise<ThrottleVerdict> {
    const window = this.windows.find(key) ?? this.windows.begin(key, durationMs, 0);
    const hits = window.hits + 1;
    if (hits <= limit) window.hits = hits;
    return verdictOf({ ...window, hits }, limit, this.clock.monotonicMs());
  }

  async refund(key: string, _durationMs: number, ageMs: number): Promise<void> {
    const window = this.windows.find(key);
    if (window === undefined || window.hits === 0) return;
    if (window.beginsAtMs <= this.clock.monotonicMs() - ageMs) window.hits -= 1;
  }
}
