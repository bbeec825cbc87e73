// Checks that the clocks of this machine and of all instances agree.
import type { Check } from './check-integration.js';
import { failed, PASSED } from './check-verdict.js';

/** The instance's tolerance for an `iat` in the future. */
export const LEEWAY_SECONDS = 5;
const REMEDY =
  'Run NTP on this machine, on every instance and on the proxies. `date -u` shows which clock is wrong.';

/** The difference of the instance's clock to this machine's. */
export const CLOCKS_DIFFER = {
  ahead: {
    cause: "The clock of an instance is ahead of this machine's, so tokens expire too early.",
    remedy: REMEDY,
  },
  behind: {
    cause: "The clock of an instance is behind this machine's, so tokens seem to be issued in the future.",
    remedy: REMEDY,
  },
} as const;

export type Side = keyof typeof CLOCKS_DIFFER;

export function sideOf(offsetSeconds: number): Side {
  return offsetSeconds > 0 ? 'ahead' : 'behind';
}

/** Runs last, because it reads the times of all answers: one of several instances may be wrong. */
export const CLOCK_CHECK: Check = {
  id: 'clock',
  title: `The clocks differ by ${LEEWAY_SECONDS} seconds at most`,
  run: async ({ requests: { offset }, clockRefusal }) => {
    const side = sideOf(offset);
    const found = `the time of an answer is ${Math.abs(offset)} seconds ${side}`;
    if (Math.abs(offset) > LEEWAY_SECONDS) return failed({ found, ...CLOCKS_DIFFER[side] });
    return clockRefusal === undefined
      ? PASSED
      : failed({ found: clockRefusal.found, ...CLOCKS_DIFFER[clockRefusal.side] });
  },
};
