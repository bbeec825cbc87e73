// What time it is, and waiting: replaced in tests, which would otherwise wait for real.
import { setTimeout as pause } from 'node:timers/promises';
import { invalidOption } from './partner-error.js';

export interface PartnerClock {
  /** Milliseconds since 1970, for the claims of tokens. */
  nowMs(): number;
  /** Milliseconds since any moment, which nobody sets back: for how long a token is kept. */
  monotonicMs(): number;
  /** Resolves after so many milliseconds; rejects when the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

const SYSTEM_CLOCK: PartnerClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  wait: (milliseconds, signal) => pause(milliseconds, undefined, { signal }),
};

/** @throws PartnerError `invalid_option` for a clock without its three functions */
export function readClock(clock: PartnerClock = SYSTEM_CLOCK): PartnerClock {
  const names = ['nowMs', 'monotonicMs', 'wait'] as const;
  if (names.every((name) => typeof clock?.[name] === 'function')) return clock;
  throw invalidOption('clock must be an object with the functions nowMs, monotonicMs and wait');
}
