// A storage that can refund a hit, so that a request can be counted in another place.
import type { ThrottlerStorage } from '@nestjs/throttler';

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

/** The limit of a hit that is only counted and never refused. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;

export function canRefund(storage: ThrottlerStorage): storage is RefundingThrottlerStorage {
  return typeof (storage as Partial<RefundingThrottlerStorage>).refund === 'function';
}
