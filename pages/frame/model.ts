// What the views of both pages are drawn from.
import { signal } from '@preact/signals';
import type { Visit } from './visit.js';

const MINUTE_MS = 60_000;

/** For times in words relative to now. */
export const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), MINUTE_MS);

export interface Model {
  visit: Visit;
  /** The address of a path for another tab. */
  addressOf: (path: string) => string;
  /** The visitor asks for another login. Undefined: there is no way to one from here. */
  retry: (() => void) | undefined;
  /** Whether another login is tried without the visitor. */
  retries: boolean;
  /** Whether the page says why a login has failed. */
  showsFailures: boolean;
  /** Finds out again who is signed in by the cookie. Undefined: the session is no cookie's. */
  start?: () => Promise<void>;
}
