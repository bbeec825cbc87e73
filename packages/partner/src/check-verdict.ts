// The result of a check.
import type { Answer } from './check-requests.js';

/** What is wrong, why, and what to do. No property contains a token or a key. */
export interface Fault {
  readonly found: string;
  readonly cause: string;
  readonly remedy: string;
  /** The request's id in the instance's log. */
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

/** An answer in a few words: its status and error code. Long content is cut. */
export function inWords({ status, members }: Answer): string {
  const { error } = members;
  const isCode = typeof error === 'string' && /^[a-z_]{1,64}$/.test(error);
  return isCode ? `${status} ${error}` : `${status}`;
}
