// The state of an entry's key set at a moment, for tokens, operators, logs and metrics.
import type { KeySetStateName } from '../../host/telemetry.js';
import { whyUnusable } from '../jwks-content.js';
import type { JwksSnapshot } from './jwks-snapshot.repository.js';

/** A running refresh, or a change of the leader, is no reason to refuse a token. */
const GRACE_SECONDS = 30;

export interface KeySetState {
  readonly state: KeySetStateName;
  /** The end of its keys' use, also if it is past; undefined if there are none. */
  readonly servesUntil: Date | undefined;
  /** Why there is nothing newer or usable; undefined while the keys are held, and before the first attempt has ended. */
  readonly reason: string | undefined;
}

type Fetched = Pick<JwksSnapshot, 'keySet' | 'freshUntil' | 'lastFailureReason' | 'consecutiveFailures'>;

/** A key set is in one of five states. */
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

/** The state as messages say it; times are ISO 8601. */
export function keySetInWords({ state, servesUntil, reason = '' }: KeySetState): string {
  const moment = servesUntil?.toISOString().replace(/\.\d+/, '');
  switch (state) {
    case 'never_held':
      return reason === '' ? 'not fetched yet' : `never fetched: ${reason}`;
    case 'held':
      return `held until ${moment}`;
    case 'stale':
      return `stale, used until ${moment}: ${reason}`;
    case 'lapsed':
      return `lapsed since ${moment}: ${reason}`;
    case 'no_usable_key':
      return `without a usable key: ${reason}`;
  }
}
