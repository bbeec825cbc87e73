// The port of metrics and traces.
import type { Flow, ThrottledFlow } from '../endpoint/flows.js';
import type { TokenRefusalReason } from '../refusals/token-refusals.js';

/**
 * The timed stages of a request: its tokens are verified, then used up. Then its success is recorded, or, if users change,
 * applied in a transaction. A logout is verified and applied.
 */
export type Stage = 'verify' | 'use' | 'record' | 'apply';

/** The number of usable keys of a configured entry. */
export interface KeysHeld {
  readonly entry: string;
  readonly issuer: string;
  readonly count: number;
}

/** The end of trust in an entry. */
export interface EntryEnd {
  readonly entry: string;
  readonly issuer: string;
  readonly notAfter: Date;
}

/** The users of the issuer of an entry, if its entries have a number of seats. */
export interface SeatsOfEntry {
  readonly entry: string;
  readonly issuer: string;
  readonly maxUsers: number;
  /** Those who have a seat. */
  readonly users: number;
}

/** A step that a trace shows: a stage of a flow, or the fetch of a key set. */
export type TracedStep =
  { readonly name: Stage; readonly flow: Flow } | { readonly name: 'jwks_fetch'; readonly entry: string };

/** The outcomes of a key set's fetch, a fixed set for a metric's label. */
export const KEY_SET_FETCH_OUTCOMES = [
  'succeeded',
  /** The set has no usable key: its entry trusts no token now. */
  'no_usable_key',
  'address_refused',
  'connection_failed',
  'timeout',
  /** Another status than 200, such as a redirect. */
  'status',
  /** Compressed, or too large. */
  'answer_refused',
  'not_a_key_set',
  'internal_fault',
] as const;

export type KeySetFetchOutcome = (typeof KEY_SET_FETCH_OUTCOMES)[number];

/**
 * Never held: no fetch has succeeded. Held: its keys are used. Stale: they are used although the latest fetch has failed. Lapsed:
 * their time is over. No usable key: the issuer has published none.
 */
export const KEY_SET_STATES = ['never_held', 'held', 'stale', 'lapsed', 'no_usable_key'] as const;

export type KeySetStateName = (typeof KEY_SET_STATES)[number];

/** The present figures of the key set of a JWKS entry. */
export interface KeySetFigures {
  readonly entry: string;
  readonly issuer: string;
  /** Seconds since the start of the latest successful fetch; undefined before the first. */
  readonly ageSeconds: number | undefined;
  /** Seconds until the leader fetches again, negative if overdue; undefined before the first attempt. */
  readonly nextRefreshSeconds: number | undefined;
  readonly state: KeySetStateName;
}

/** How many replay records there are. */
export interface ReplayRecords {
  /** All of them, by the database's own estimate, without reading rows. */
  readonly estimate: number;
  /** Expired and not purged yet, counted up to the given limit. */
  readonly expired: number;
}

/**
 * The product's metrics and traces. Methods that are not abstract are optional. No label comes from a client: reasons and
 * outcomes are fixed sets, and operators name the entries.
 */
export abstract class ExchangeTelemetry {
  abstract observeStage(flow: Flow, stage: Stage, seconds: number): void;
  abstract countThrottled(flow: ThrottledFlow): void;
  /**
   * Counts a failure that is not in the audit trail: an internal error, an outage of the database, or one of many unverified
   * logouts.
   */
  abstract countUnrecordedFailure(
    flow: Flow,
    reason?: TokenRefusalReason | 'internal_error' | 'temporarily_unavailable',
  ): void;
  /** Takes a function that returns the present number of usable keys, to be called when metrics are read. */
  abstract watchKeys(read: () => readonly KeysHeld[]): void;

  /** Counts a request that was refused before its token was read. @param reason one of a fixed set */
  countRefusal(_flow: ThrottledFlow, _reason: string): void {
    // Not counted.
  }

  /**
   * Runs a step, perhaps in a span. Must call `work` once and return or throw the same. An error of `work` may contain claims of
   * a token: keep its message and properties out of traces.
   */
  traced<T>(_step: TracedStep, work: () => Promise<T>): Promise<T> {
    return work();
  }

  /** Counts a call's DPoP proof that was forgotten while it could be replayed. */
  countForgottenProof(): void {
    // Not counted.
  }

  countKeySetFetch(_outcome: KeySetFetchOutcome): void {
    // Not counted.
  }

  /** Takes a function that returns the state of each JWKS entry, to be called when metrics are read. */
  watchKeySets(_read: () => readonly KeySetFigures[]): void {
    // Not watched.
  }

  /** Takes a function that returns the entries with a `notAfter`, to be called when metrics are read. */
  watchEnds(_read: () => readonly EntryEnd[]): void {
    // Not watched.
  }

  /** Takes a function that asks the database, so it is to be called now and then only. */
  watchSeats(_read: () => Promise<readonly SeatsOfEntry[]>): void {
    // Not watched.
  }

  /** Counts a run of the leader's that deletes expired replay records. */
  countReplayPurge(_outcome: 'succeeded' | 'failed'): void {
    // Not counted.
  }

  countPurgedReplayRecords(_count: number): void {
    // Not counted.
  }

  /**
   * Receives a function that asks the database, so call it rarely.
   * @param read receives the maximum of expired records to count; rejects with the driver's error
   */
  watchReplayRecords(_read: (atMost: number) => Promise<ReplayRecords>): void {
    // Not watched.
  }
}

/** Telemetry of a host without metrics. */
export class SilentTelemetry extends ExchangeTelemetry {
  observeStage(): void {
    // Not measured.
  }

  countThrottled(): void {
    // Not counted.
  }

  countUnrecordedFailure(): void {
    // The log has it.
  }

  watchKeys(): void {
    // Not watched.
  }
}
