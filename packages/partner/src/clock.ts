// The time, and waiting. Tests replace both.
import { setTimeout as pause } from 'node:timers/promises';
import { invalidOption } from './partner-error.js';

export interface PartnerClock {
  /** Milliseconds since 1970, for the claims of tokens. */
  nowMs(): number;
  /** Monotonic milliseconds, for the time that a token is kept. */
  monotonicMs(): number;
  /** Resolves after this many milliseconds; rejects if the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

const SYSTEM_CLOCK: PartnerClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  wait: (milliseconds, signal) => pause(milliseconds, undefined, { signal }),
};

/** @throws PartnerError `invalid_option` if one of the three functions is missing */
export function readClock(clock: PartnerClock = SYSTEM_CLOCK): PartnerClock {
  const names = ['nowMs', 'monotonicMs', 'wait'] as const;
  if (names.every((name) => typeof clock?.[name] === 'function')) return clock;
  throw invalidOption('clock must be an object with the functions nowMs, monotonicMs and wait');
}
