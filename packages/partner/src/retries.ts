// Which failures are retried, and when.
import type { PartnerError } from './partner-error.js';

/** The answers that are retried, with new tokens: the instance may have used up the ones that were sent. */
const RETRIED_STATUSES: readonly (number | undefined)[] = [429, 503];
/** The first wait if the response (of a proxy, for example) has no `Retry-After`. It doubles: 1 s, 2 s, 4 s … */
const FIRST_WAIT_SECONDS = 1;
/** Adds up to this part of the wait, at least a second, so that clients that were refused together do not return together. */
const JITTER = 0.1;
const LEAST_JITTER_SECONDS = 1;

/**
 * Only 429 and 503 are retried, after `Retry-After`. After a lost connection, the caller decides.
 * @param tries the number of requests so far, including this one
 * @param random from 0 to 1
 * @returns milliseconds; undefined if the failure is not retried
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
