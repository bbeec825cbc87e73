// What the key set of an entry is worth at a moment: the one place that decides it, for tokens, operators, logs and metrics.
import type { KeySetStateName } from '../../host/telemetry.js';
import { whyUnusable } from '../jwks-content.js';
import type { JwksSnapshot } from './jwks-snapshot.repository.js';

/** A refresh that is under way, or a leader that is being replaced, is no reason to refuse a token. */
const GRACE_SECONDS = 30;

export interface KeySetState {
  readonly state: KeySetStateName;
  /** Until when its keys serve, or have served; undefined where there are none. */
  readonly servesUntil: Date | undefined;
  /** Why nothing newer or nothing usable is there; undefined while the keys are held, and before an attempt has ended. */
  readonly reason: string | undefined;
}

type Fetched = Pick<JwksSnapshot, 'keySet' | 'freshUntil' | 'lastFailureReason' | 'consecutiveFailures'>;

/** @rule D138 A key set is in one of five states. */
export function keySetState(snapshot: Fetched, maxStaleSeconds: number, nowMs: number): KeySetState {
  const { keySet, lastFailureReason, consecutiveFailures } = snapshot;
  const failure = consecutiveFailures > 0 ? (lastFailureReason ?? undefined) : undefined;
  if (keySet === null) return { state: 'never_held', servesUntil: undefined, reason: failure };
  const reason = whyUnusable(keySet);
  if (reason !== undefined) return { state: 'no_usable_key', servesUntil: undefined, reason };
  const untilMs = servesUntilMs(snapshot, maxStaleSeconds);
  const servesUntil = new Date(untilMs);
  if (nowMs >= untilMs)
    return { state: 'lapsed', servesUntil, reason: failure ?? 'it was not fetched again in time' };
  return { state: failure === undefined ? 'held' : 'stale', servesUntil, reason: failure };
}

/** In milliseconds since the Unix epoch. */
export function servesUntilMs({ freshUntil }: Pick<Fetched, 'freshUntil'>, maxStaleSeconds: number): number {
  return (freshUntil?.getTime() ?? 0) + Math.max(maxStaleSeconds, GRACE_SECONDS) * 1000;
}

/** Whether tokens are verified by its keys. */
export function isServing({ state }: Pick<KeySetState, 'state'>): boolean {
  return state === 'held' || state === 'stale';
}

/** For people; times are ISO 8601. */
export function keySetInWords({ state, servesUntil, reason = '' }: KeySetState): string {
  const moment = servesUntil?.toISOString().replace(/\.\d+/, '');
  switch (state) {
    case 'never_held':
      return reason === '' ? 'not fetched yet' : `never fetched: ${reason}`;
    case 'held':
      return `held until ${moment}`;
    case 'stale':
      return `stale, serves until ${moment}: ${reason}`;
    case 'lapsed':
      return `lapsed since ${moment}: ${reason}`;
    case 'no_usable_key':
      return `without a usable key: ${reason}`;
  }
}
