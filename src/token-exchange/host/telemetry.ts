// The port of metrics and traces.
import type { Flow } from './flow.js';

/** The stages of a request that are timed. */
export type Stage = 'verify' | 'commit' | 'issue';

/** How many usable keys an entry of the configuration has. */
export interface KeysHeld {
  readonly entry: string;
  readonly issuer: string;
  readonly count: number;
}

/** A step that a trace shows: a stage of a flow, or the fetch of a key set. */
export type TracedStep =
  { readonly name: Stage; readonly flow: Flow } | { readonly name: 'jwks_fetch'; readonly entry: string };

/** How the fetch of a key set may end. There are no other words, so that they can be labels of a metric. */
export const KEY_SET_FETCH_OUTCOMES = [
  'succeeded',
  /** The set has no usable key: its entry trusts nobody now. */
  'no_usable_key',
  'address_refused',
  'connection_failed',
  'timeout',
  /** Another status than 200, a redirect among them. */
  'status',
  /** Compressed, or too large. */
  'answer_refused',
  'not_a_key_set',
  'internal_fault',
] as const;

export type KeySetFetchOutcome = (typeof KEY_SET_FETCH_OUTCOMES)[number];

/** What is known of the key set of a JWKS entry at this moment. */
export interface KeySetState {
  readonly entry: string;
  readonly issuer: string;
  /** Seconds since the fetch began that brought the keys; undefined before the first success. */
  readonly ageSeconds: number | undefined;
  /** Seconds until the leader fetches again, negative once that is overdue; undefined before the first attempt. */
  readonly nextRefreshSeconds: number | undefined;
  /** Whether the latest fetch failed. */
  readonly isFailing: boolean;
}

/** How many replay records there are. */
export interface ReplayRecords {
  /** Of all of them, as the database itself estimates: no row is read for it. */
  readonly estimate: number;
  /** Expired, and not purged yet; counted up to the limit that was given. */
  readonly expired: number;
}

/**
 * The product's metrics and traces. What is not abstract a host may leave out. No word that is given as a label comes from a
 * client: reasons and outcomes are of fixed sets, entries are named by whoever configures them.
 */
export abstract class ExchangeTelemetry {
  abstract observeStage(flow: Flow, stage: Stage, seconds: number): void;
  abstract countThrottled(flow: ThrottledFlow): void;
  /**
   * Counts a failure that not even the audit trail could take: by a fault of the service, or because the database could not
   * serve.
   */
  abstract countUnrecordedFailure(flow: Flow, reason?: 'internal_error' | 'temporarily_unavailable'): void;
  /** Takes a function that tells the present number of usable keys, to be asked whenever metrics are read. */
  abstract watchKeys(read: () => readonly KeysHeld[]): void;

  /** Counts a request that was refused for what it is, before a token was looked at. @param reason one of a fixed set */
  countRefusal(_flow: ThrottledFlow, _reason: string): void {
    // Nobody counts.
  }

  /**
   * Runs a step: the place for a span around it. Must call `work` once, and end as it does. What `work` throws may hold what a
   * token says: neither its message nor its members belong into a trace.
   */
  traced<T>(_step: TracedStep, work: () => Promise<T>): Promise<T> {
    return work();
  }

  countKeySetFetch(_outcome: KeySetFetchOutcome): void {
    // Nobody counts.
  }

  /** Takes a function that tells of each JWKS entry, to be asked whenever metrics are read. */
  watchKeySets(_read: () => readonly KeySetState[]): void {
    // Nobody watches.
  }

  /** Counts a run of the leader's that deletes expired replay records. */
  countReplayPurge(_outcome: 'succeeded' | 'failed'): void {
    // Nobody counts.
  }

  countPurgedReplayRecords(_count: number): void {
    // Nobody counts.
  }

  /**
   * Takes a function that asks the database, so it is to be called now and then only.
   * @param read given the most expired records to count; rejects with the driver's error
   */
  watchReplayRecords(_read: (atMost: number) => Promise<ReplayRecords>): void {
    // Nobody watches.
  }
}

/** What is throttled: both flows, and the end of single access tokens. */
export type ThrottledFlow = Flow | 'revocation';

/** What a host without metrics has in their place. */
export class SilentTelemetry extends ExchangeTelemetry {
  observeStage(): void {
    // Nobody measures.
  }

  countThrottled(): void {
    // Nobody counts.
  }

  countUnrecordedFailure(): void {
    // The log has it.
  }

  watchKeys(): void {
    // Nobody watches.
  }
}
