// The cached key set of a JWKS entry, and its state for tokens, operators, logs and metrics.
import type { Log } from '../../../platform/log/log.js';
import type { KeySetStateName } from '../../host/telemetry.js';
import type { JwksKey } from '../jwks-content.js';
import { JwksContentError, quoteKid, readJwks, whyUnusable } from '../jwks-content.js';
import type { JwksEntry, TrustedKey } from '../trusted-key.js';
import type { JwksAddress, JwksSnapshot, JwksSnapshotRepository } from './jwks-snapshot.repository.js';
import { neverTried, toJwksAddress } from './jwks-snapshot.repository.js';

/** Expired keys are still used for this time, so that a refresh or a change of the leader refuses no token. */
const GRACE_SECONDS = 30;

export interface KeySetState {
  readonly state: KeySetStateName;
  /** When the keys stop being used, even if that is in the past; undefined if there are none. */
  readonly servesUntil: Date | undefined;
  /** Why the keys are stale or unusable; undefined while they are fresh, and before the first attempt has ended. */
  readonly reason: string | undefined;
}

type Fetched = Pick<JwksSnapshot, 'keySet' | 'freshUntil' | 'lastFailureReason' | 'consecutiveFailures'>;

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
export function isInUse({ state }: Pick<KeySetState, 'state'>): boolean {
  return state === 'held' || state === 'stale';
}

/** Formats the state for messages. Times are ISO 8601. */
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

/** How often the log repeats a state that needs attention. */
const TELL_AGAIN_MS = 15 * 60_000;
/** How far another instance's clock may be ahead. */
const CLOCK_DIFFERENCE_MS = 60_000;

/** The state of a JWKS entry for operators. A fetch has the time when it began. */
export interface JwksStatus extends KeySetState {
  readonly label: string;
  readonly issuer: string;
  /** Without its query. */
  readonly url: string;
  /** The number of usable keys now; 0 while the entry is suspended. */
  readonly keys: number;
  readonly lastSuccessAt: Date | undefined;
  readonly lastFailureAt: Date | undefined;
  readonly lastFailureReason: string | undefined;
  /** When the leader fetches again; undefined before the first attempt. */
  readonly nextRefreshAt: Date | undefined;
}

/** One JWKS entry with its keys in memory. */
export class JwksCacheEntry {
  readonly address: JwksAddress;
  /** The newest known state of the address, even if it is not stored yet. */
  snapshot: JwksSnapshot;
  private keysByKid: ReadonlyMap<string, readonly TrustedKey[]> = new Map();
  private mustRefresh = false;
  /** The latest logged state, and when it was logged, on the monotonic clock. */
  private told: { readonly text: string; readonly atMs: number } | undefined;

  constructor(
    private trusted: JwksEntry,
    private readonly maxStaleSeconds: number,
    private readonly logger: Log,
  ) {
    this.address = toJwksAddress(trusted.url);
    this.snapshot = neverTried(this.address);
  }

  get entry(): JwksEntry {
    return this.trusted;
  }

  /** Applies another entry's policy to the keys. */
  trustBy(entry: JwksEntry): void {
    this.trusted = entry;
    this.keysByKid = this.trusting(this.keys);
  }

  /** The keys with this kid, in the order of the set, unless they are too old. */
  keysFor(kid: string, nowMs: number): readonly TrustedKey[] {
    return (this.isInTime(nowMs) ? this.keysByKid.get(kid) : undefined) ?? [];
  }

  usableKeys(nowMs: number): readonly TrustedKey[] {
    return this.isInTime(nowMs) ? this.keys : [];
  }

  /** Whether the leader should fetch now. */
  isDue(nowMs: number): boolean {
    const { nextRefreshAt } = this.snapshot;
    return (
      this.mustRefresh || nextRefreshAt === null || nowMs >= nextRefreshAt.getTime() || this.isAhead(nowMs)
    );
  }

  /** Whether the last fetch is in the future: a clock was set back, so the next fetch would be too late. */
  private isAhead(nowMs: number): boolean {
    const { consecutiveFailures, lastFailureAt, lastSuccessAt } = this.snapshot;
    const lastAt = consecutiveFailures > 0 ? lastFailureAt : lastSuccessAt;
    return lastAt !== null && lastAt.getTime() > nowMs + CLOCK_DIFFERENCE_MS;
  }

  refreshSoon(): void {
    this.mustRefresh = true;
  }

  /**
   * Applies a state of the address. Keys that are not in it are no longer used. A state without a key set does not change the
   * keys or their lifetime.
   */
  apply(snapshot: JwksSnapshot): void {
    const { keySet, freshUntil, lastSuccessAt } = this.snapshot;
    this.snapshot = snapshot.keySet === null ? { ...snapshot, keySet, freshUntil, lastSuccessAt } : snapshot;
    this.mustRefresh = false;
    if (snapshot.keySet !== null && snapshot.keySet !== keySet) this.replaceKeys(snapshot.keySet);
  }

  status(nowMs: number): JwksStatus {
    const { lastSuccessAt, lastFailureAt, lastFailureReason, nextRefreshAt } = this.snapshot;
    return {
      label: this.entry.label,
      issuer: this.entry.issuer,
      url: this.address.url,
      keys: this.entry.suspended === true ? 0 : this.usableKeys(nowMs).length,
      lastSuccessAt: lastSuccessAt ?? undefined,
      lastFailureAt: lastFailureAt ?? undefined,
      lastFailureReason: lastFailureReason ?? undefined,
      nextRefreshAt: nextRefreshAt ?? undefined,
      ...this.state(nowMs),
    };
  }

  state(nowMs: number): KeySetState {
    return keySetState(this.snapshot, this.maxStaleSeconds, nowMs);
  }

  /**
   * Logs each change of the state. Repeats a state that needs attention every 15 minutes. Call it often.
   * @param monotonicMs the present on the monotonic clock
   */
  tellState(nowMs: number, monotonicMs: number): void {
    const { state, servesUntil, reason } = this.state(nowMs);
    const isWell = state === 'held' || (state === 'never_held' && reason === undefined);
    const text = isWell ? undefined : `${state} ${reason}`;
    const { told } = this;
    if (text === told?.text && (told === undefined || monotonicMs - told.atMs < TELL_AGAIN_MS)) return;
    this.told = text === undefined ? undefined : { text, atMs: monotonicMs };
    const fields = { ...this.logFields, state, reason };
    const until = servesUntil?.toISOString();
    if (isWell) this.logger.info(fields, 'the key set of an entry is usable again');
    else if (state === 'stale')
      this.logger.warn(fields, `the key set of an entry cannot be fetched: its keys are used until ${until}`);
    else this.logger.error(fields, `${UNUSABLE[state]}: tokens of its entry are refused`);
  }

  get logFields(): object {
    const { lastSuccessAt, lastFailureAt, lastFailureReason, nextRefreshAt } = this.snapshot;
    const times = { lastSuccessAt, lastFailureAt, lastFailureReason, nextRefreshAt };
    return { entry: this.entry.label, url: this.address.url, keys: this.keys.length, ...times };
  }

  private isInTime(nowMs: number): boolean {
    return nowMs < servesUntilMs(this.snapshot, this.maxStaleSeconds);
  }

  private get keys(): readonly TrustedKey[] {
    return [...this.keysByKid.values()].flat();
  }

  private replaceKeys(keySet: string): void {
    const before = this.keysByKid;
    try {
      this.keysByKid = this.trusting(readJwks(Buffer.from(keySet)).keys);
    } catch (error) {
      // Only another version of this service could have stored such a string.
      if (!(error instanceof JwksContentError)) throw error;
      this.logger.error({ ...this.logFields, reason: error.message }, 'a stored key set cannot be read');
    }
    const added = kidsMissingIn(before, this.keysByKid);
    const removed = kidsMissingIn(this.keysByKid, before);
    if (added.length + removed.length === 0) return;
    this.logger.info({ ...this.logFields, added, removed }, 'the keys of a JWKS entry have changed');
  }

  private trusting(keys: readonly JwksKey[]): ReadonlyMap<string, readonly TrustedKey[]> {
    const byKid = new Map<string, TrustedKey[]>();
    for (const { kid, algorithms, publicKey } of keys)
      byKid.set(kid, [...(byKid.get(kid) ?? []), { kid, algorithms, publicKey, policy: this.entry }]);
    return byKid;
  }
}

const UNUSABLE: Readonly<Partial<Record<KeySetStateName, string>>> = {
  never_held: 'a key set was never fetched',
  lapsed: 'the keys of a key set have expired',
  no_usable_key: 'a key set has no usable key',
};

function kidsMissingIn(keys: ReadonlyMap<string, unknown>, others: ReadonlyMap<string, unknown>): string[] {
  return [...others.keys()].filter((kid) => !keys.has(kid)).map(quoteKid);
}

/** Applies the stored states that differ from the known ones. @throws the driver's error */
export async function applyStored(
  snapshots: JwksSnapshotRepository,
  entries: readonly JwksCacheEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const changed = await snapshots.findChanged(entries.map(({ snapshot }) => snapshot));
  for (const snapshot of changed)
    for (const cached of entries)
      if (cached.address.urlHash === snapshot.urlHash && cached.snapshot.revision !== snapshot.revision)
        cached.apply(snapshot);
}
