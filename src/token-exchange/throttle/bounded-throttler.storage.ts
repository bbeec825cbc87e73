// Counts requests in the memory of this process.
import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { Clock } from '../foundation/clock.js';
import type { ThrottleVerdict } from './counting-windows.js';
import { CountingWindows, judge } from './counting-windows.js';

/**
 * One counter per key, within a fixed window that the first hit begins. Unlike the storage that @nestjs/throttler
 * brings, it has a bounded size however many addresses come, and one number per key however many hits.
 */
@Injectable()
export class BoundedThrottlerStorage implements ThrottlerStorage {
  private readonly windows: CountingWindows;

  constructor(private readonly clock: Clock) {
    this.windows = new CountingWindows(clock);
  }

  /** @param durationMs length of a window that begins now, in milliseconds */
  async increment(key: string, durationMs: number, limit: number): Promise<ThrottleVerdict> {
    const window = this.windows.find(key) ?? this.windows.begin(key, durationMs, 0);
    window.hits += 1;
    return judge(window, limit, this.clock.nowMs());
  }
}
