// The operator's sign-in: start, end, idle time, and the browser's other windows.
import { signal } from '@preact/signals';
import type { AnswerOf } from './api.js';
import { call, isSignedOut, listener } from './api.js';
import { closeDialog } from './dialog.js';
import { followAddress, hasInputToKeep, reload, shown } from './navigation.js';

type Session = AnswerOf<'GET /session'>;
export type Operator = Session['operator'];

/** The state of the sign-in: unknown, not readable, signed out, or signed in. */
export type Phase =
  | { readonly kind: 'starting' }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** `before` is the operator whose view is kept meanwhile. */
  | { readonly kind: 'out'; readonly reason: string; readonly before: Operator | null }
  | { readonly kind: 'in'; readonly operator: Operator };

/** A sign-in is checked this long after its expected end, because the instance's clock decides. */
const GRACE_MS = 5_000;
const ENDED = 'Your sign-in has ended. Sign in again to go on.';

export const phase = signal<Phase>({ kind: 'starting' });
/** Windows that share a sign-in exchange messages: the operator's id, or null. */
const windows = new BroadcastChannel('svc-operator');

let session: Session | undefined;
let acceptedAtMs = 0;
let idleTimer: ReturnType<typeof setTimeout> | undefined;

export async function begin(): Promise<void> {
  phase.value = { kind: 'starting' };
  try {
    accept(await call('GET /session', {}));
  } catch (error) {
    if (!isSignedOut(error)) phase.value = { kind: 'failed', error };
  }
}

/** @rule D113 After a new sign-in, a form keeps its input. Everything else is loaded again. */
export function comeBack(answer: Session): void {
  const before = phase.value.kind === 'out' ? phase.value.before : null;
  const isSame = before?.id === answer.operator.id && shown.value.hash === location.hash;
  const isKept = isSame && hasInputToKeep();
  accept(answer);
  windows.postMessage(answer.operator.id);
  if (isKept)
    shown.value = {
      ...shown.value,
      news: 'You are signed in again. What you had typed is still here, and was not sent.',
    };
  else reload();
}

export async function signOut(): Promise<void> {
  await call('DELETE /session', {});
  windows.postMessage(null);
  phase.value = { kind: 'out', reason: '', before: null };
}

/** Another session has replaced this one. */
export function accept(answer: Session): void {
  session = answer;
  acceptedAtMs = performance.now();
  phase.value = { kind: 'in', operator: answer.operator };
  watchIdleness();
}

function end(reason: string): void {
  const { value: now } = phase;
  if (now.kind === 'out') return;
  clearTimeout(idleTimer);
  closeDialog();
  const before = now.kind === 'in' ? now.operator : null;
  phase.value = { kind: 'out', reason: before === null ? '' : reason, before };
}

/** Checks when the sign-in must have ended, so that an abandoned screen shows nothing. */
function watchIdleness(): void {
  if (session === undefined || phase.value.kind !== 'in') return;
  clearTimeout(idleTimer);
  // By the instance's remaining time, because this machine's clock may be wrong.
  const leftMs = session.expiresInSeconds * 1000 - (performance.now() - acceptedAtMs);
  const endMs = Math.min(session.idleSeconds * 1000, Math.max(leftMs, 0));
  const look = () => void call('GET /session', {}).catch(() => undefined);
  idleTimer = setTimeout(look, endMs + GRACE_MS);
}

listener.used = watchIdleness;
listener.ended = () => end(ENDED);
windows.addEventListener('message', ({ data }) => {
  const { value: now } = phase;
  if (data === null) {
    if (now.kind === 'in') end('You signed out in another window.');
  }
  // A view must not continue under another operator's name.
  else if (now.kind !== 'in' || data !== now.operator.id) location.reload();
});
followAddress(() => phase.value.kind === 'in');
