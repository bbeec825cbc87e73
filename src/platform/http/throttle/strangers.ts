// Bounds what strangers add to log and trail of one process.
import { WINDOW_MS, counterKey } from './counting.storage.js';
import type { MemoryCounts } from './memory-counts.js';

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
