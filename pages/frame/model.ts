// The state from which both pages draw their views.
import { signal } from '@preact/signals';
import type { Visit } from './visit.js';

const MINUTE_MS = 60_000;

/** The current time, for relative times. */
export const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), MINUTE_MS);

export interface Model {
  visit: Visit;
  /** The address of a path for another tab. */
  addressOf: (path: string) => string;
  /** Requests another login. Undefined if the page cannot request one. */
  retry: (() => void) | undefined;
  /** Whether another login follows without the visitor. */
  retries: boolean;
  /** Whether the page shows why a login failed. */
  showsFailures: boolean;
  /** Reads the cookie's user again. Undefined if the session is not in a cookie. */
  start?: () => Promise<void>;
}
