// Counts hits in the memory of this process, for a bounded number of keys.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../clock.js';

/** Some 15 MB when full. */
const MAX_KEYS = 100_000;

/** When full it forgets the tenth that was set first: one pass over a full map must serve many new keys. */
export class BoundedMap<Value> extends Map<string, Value> {
  constructor(private readonly maxKeys = MAX_KEYS) {
    super();
  }

  override set(key: string, value: Value): this {
    // Deleted first: a map keeps the place of a key that is set again.
    this.delete(key);
    if (this.size >= this.maxKeys)
      for (const oldest of [...this.keys()].slice(0, Math.ceil(this.maxKeys / 10))) this.delete(oldest);
    return super.set(key, value);
  }
}

/** Where a key stands in its running window. */
export interface Count {
  /** With the present hit, also where that is refused. */
  readonly hits: number;
  /** Milliseconds until the window ends. */
  readonly remainingMs: number;
}

/** On the monotonic clock: who sets the other one opens or prolongs no window. */
interface CountingWindow {
  hits: number;
  readonly beginsAtMs: number;
  readonly endsAtMs: number;
}

/**
 * A hit over the limit is refused and not counted: it would stand in the way of those after it, once others are refunded.
 * All windows are of one length, so that those set first end first.
 */
@Injectable()
export class MemoryCounts {
  private readonly windows = new BoundedMap<CountingWindow>();

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
