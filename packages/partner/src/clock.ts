// What time it is, and waiting: replaced in tests, which would otherwise wait for real.
import { setTimeout as pause } from 'node:timers/promises';

export interface PartnerClock {
  /** Milliseconds since 1970, for the claims of tokens. */
  nowMs(): number;
  /** Milliseconds since any moment, which nobody sets back: for how long a token is kept. */
  monotonicMs(): number;
  /** Resolves after so many milliseconds; rejects when the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const SYSTEM_CLOCK: PartnerClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  wait: (milliseconds, signal) => pause(milliseconds, undefined, { signal }),
};
