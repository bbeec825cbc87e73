// Waits for the first token of a partner: polls the issuer's requests for ten minutes. Polling does not extend the sign-in.
import type { ItemOf } from '../api.js';
import { call, isSignedOut } from '../api.js';

export type Request = ItemOf<'POST /partners/requests'>;

/** The flows that must succeed. */
export const GOALS = ['embed', 'exchange'] as const;
export type Goal = (typeof GOALS)[number];

const WAIT_MS = 10 * 60_000;
const EVERY_MS = 2_000;

export interface Wait {
  issuer: string;
  goals: readonly Goal[];
  signal: AbortSignal;
  setRequests: (requests: readonly Request[]) => void;
  setError: (error: unknown) => void;
}

/** Polls until all goals are reached or the time is over. Passes errors to `setError`, and continues. */
export async function waitForFirstToken(wait: Wait): Promise<'done' | 'over'> {
  const { issuer, goals, signal, setRequests, setError } = wait;
  // The instance's time, because the browser's clock may differ.
  const { now: since } = await call('GET /overview', { signal });
  const endMs = performance.now() + WAIT_MS;
  while (performance.now() < endMs) {
    try {
      const body = { issuer, since };
      const { data } = await call('POST /partners/requests', { body, signal, isUse: false });
      setRequests(data);
      setError(undefined);
      if (reachedIn(data, goals).length === goals.length) return 'done';
    } catch (error) {
      if (signal.aborted || isSignedOut(error)) throw error;
      setError(error);
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    signal.throwIfAborted();
  }
  return 'over';
}

/** The goals that requests of the issuer have reached. */
export function reachedIn(requests: readonly Request[], goals: readonly Goal[]): Goal[] {
  return goals.filter((goal) => requests.some(({ of, succeeded, own }) => own && of === goal && succeeded));
}
