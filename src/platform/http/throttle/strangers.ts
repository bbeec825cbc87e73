// Bounds what strangers add to log and trail of one process.
import type { MemoryThrottlerStorage } from './memory-throttler.storage.js';
import { WINDOW_MS, counterKey } from './minute-throttler.guard.js';

/** Most that one client address, or one token of the instance, adds within a minute. */
export const RECORDED_PER_MINUTE = 10;
/** Most that all strangers together add: addresses of IPv6 cost nothing. */
const STRANGERS_PER_MINUTE = 600;

/** Counts a record of one sender. @returns whether it is one too many */
export async function isOver(
  counts: MemoryThrottlerStorage,
  key: string,
  limit = RECORDED_PER_MINUTE,
): Promise<boolean> {
  const { isBlocked } = await counts.increment(key, WINDOW_MS, limit);
  return isBlocked;
}

/**
 * Counts a record of a stranger. In memory, since what a stranger sends must not become statements of the database.
 * Strangers fill neither log nor trail (D79): one address has ten records a minute, and all together 600.
 * @param what is recorded
 * @returns whether it is one too many
 */
export async function isOverOfStrangers(
  counts: MemoryThrottlerStorage,
  what: string,
  clientAddress: string,
): Promise<boolean> {
  if (await isOver(counts, counterKey(what, clientAddress))) return true;
  return isOver(counts, counterKey(what, 'strangers'), STRANGERS_PER_MINUTE);
}
