// Counts per key, each within a window of time, for a bounded number of keys.
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Clock } from '../../clock.js';

/** Some 15 MB when full. */
const MAX_KEYS = 100_000;
/** Room that is made at a time, as a share of all keys: one pass over a full map must serve many new keys. */
const ROOM = 0.1;

/** A storage's answer to one hit; the package does not export its name for it. */
export type ThrottleVerdict = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** One key's hits from one moment to another, on the monotonic clock: who sets the other one opens or prolongs no window. */
export interface CountingWindow {
  hits: number;
  readonly beginsAtMs: number;
  readonly endsAtMs: number;
}

/** When full it forgets the windows that have ended, and where they are few, the oldest too. */
export class CountingWindows {
  private readonly windows = new Map<string, CountingWindow>();

  constructor(
    private readonly clock: Clock,
    private readonly maxKeys: number = MAX_KEYS,
  ) {}

  get size(): number {
    return this.windows.size;
  }

  /** The running window of a key. */
  find(key: string): CountingWindow | undefined {
    const window = this.windows.get(key);
    return window !== undefined && isRunning(window, this.clock.monotonicMs()) ? window : undefined;
  }

  /** Begins a window now, in place of an earlier one of the key. */
  begin(key: string, durationMs: number, hits: number): CountingWindow {
    const beginsAtMs = this.clock.monotonicMs();
    const window = { hits, beginsAtMs, endsAtMs: beginsAtMs + durationMs };
    // Deleted first: a map keeps the place of a key that is set again, and the first key is to be the oldest.
    this.windows.delete(key);
    if (this.windows.size >= this.maxKeys) this.makeRoom(beginsAtMs);
    this.windows.set(key, window);
    return window;
  }

  forget(key: string): void {
    this.windows.delete(key);
  }

  private makeRoom(nowMs: number): void {
    for (const [key, window] of this.windows) {
      if (!isRunning(window, nowMs)) this.windows.delete(key);
    }
    const excess = this.windows.size - Math.floor(this.maxKeys * (1 - ROOM));
    for (const key of [...this.windows.keys()].slice(0, Math.max(0, excess))) this.windows.delete(key);
  }
}

/**
 * Holds a window against a limit: the hits up to it pass. Times are in whole seconds, at least one.
 * @param nowMs on the monotonic clock
 */
export function verdictOf({ hits, endsAtMs }: CountingWindow, limit: number, nowMs: number): ThrottleVerdict {
  const remainingSeconds = Math.max(1, Math.ceil((endsAtMs - nowMs) / 1000));
  const isBlocked = hits > limit;
  return {
    totalHits: hits,
    timeToExpire: remainingSeconds,
    isBlocked,
    timeToBlockExpire: isBlocked ? remainingSeconds : 0,
  };
}

function isRunning({ beginsAtMs, endsAtMs }: CountingWindow, nowMs: number): boolean {
  return beginsAtMs <= nowMs && nowMs < endsAtMs;
}
