// Which failures are tried again, and after what time.
import type { PartnerError } from './partner-error.js';

/** With these the instance says when to come back, with new tokens: those that were sent may be used up. Nothing else is tried again. */
const RETRIED_STATUSES: readonly (number | undefined)[] = [429, 503];
/** Without `Retry-After`, of a proxy for example: 1 s, 2 s, 4 s … */
const FIRST_WAIT_SECONDS = 1;
/** Clients that were refused together shall not all come back together: up to so much of the wait is added, a second at least. */
const JITTER = 0.1;
const LEAST_JITTER_SECONDS = 1;

/**
 * Only 429 and 503 are retried, after `Retry-After` (D119).
 * @param tries how many requests were sent, this one included
 * @param random from 0 up to 1
 * @returns milliseconds; undefined where the failure is not tried again
 */
export function waitBeforeRetry(
  { status, retryAfterSeconds }: PartnerError,
  tries: number,
  random: number,
): number | undefined {
  if (!RETRIED_STATUSES.includes(status)) return undefined;
  const seconds = retryAfterSeconds ?? FIRST_WAIT_SECONDS * 2 ** (tries - 1);
  return (seconds + random * Math.max(LEAST_JITTER_SECONDS, seconds * JITTER)) * 1000;
}
