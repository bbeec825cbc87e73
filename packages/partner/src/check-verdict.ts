// What a check of an integration finds.
import type { Answer } from './check-requests.js';

/** What is wrong, why, and what to do. No field has a token or a key. */
export interface Fault {
  readonly found: string;
  readonly cause: string;
  readonly remedy: string;
  /** The administrator finds the log lines of the request by it. */
  readonly requestId?: string | undefined;
}

export type Verdict =
  | { readonly status: 'passed' }
  | ({ readonly status: 'failed' } & Fault)
  | { readonly status: 'skipped'; readonly reason: string };

export const PASSED: Verdict = { status: 'passed' };

export function failed(fault: Fault): Verdict {
  return { status: 'failed', ...fault };
}

export function skipped(reason: string): Verdict {
  return { status: 'skipped', reason };
}

/** An answer in a few words: its status and error code. What a stranger wrote into the answer is cut. */
export function inWords({ status, members }: Answer): string {
  const { error } = members;
  const isCode = typeof error === 'string' && /^[a-z_]{1,64}$/.test(error);
  return isCode ? `${status} ${error}` : `${status}`;
}
