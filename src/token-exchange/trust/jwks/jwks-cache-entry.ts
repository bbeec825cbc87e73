// The cached key sets of JWKS entries.
import type { Log } from '../../../platform/log/log.js';
import type { KeySetStateName } from '../../host/telemetry.js';
import type { JwksEntry, TrustedKey } from '../trusted-key.js';
import type { JwksKey } from '../jwks-content.js';
import { JwksContentError, quoteKid, readJwks } from '../jwks-content.js';
import type { JwksAddress, JwksSnapshot } from './jwks-snapshot.repository.js';
import { neverTried, toJwksAddress } from './jwks-snapshot.repository.js';
import type { KeySetState } from './key-set-state.js';
import { keySetState, servesUntilMs } from './key-set-state.js';

/** The log names a set that does not serve again after so long. */
const TELL_AGAIN_MS = 15 * 60_000;
/** By so much the clock of another instance, which fetched before, may be ahead of this one's. */
const CLOCK_DIFFERENCE_MS = 60_000;

/** The state of a JWKS entry for operators. Times are those at which fetches began. */
export interface JwksStatus extends KeySetState {
  readonly label: string;
  readonly issuer: string;
  /** Without its query. */
  readonly url: string;
  /** How many keys serve at this moment; none while the entry is suspended. */
  readonly keys: number;
  readonly lastSuccessAt: Date | undefined;
  readonly lastFailureAt: Date | undefined;
  readonly lastFailureReason: string | undefined;
  /** When the leader fetches again; undefined before the first attempt. */
  readonly nextRefreshAt: Date | undefined;
}

/** One JWKS entry with its keys. Nothing here waits: what is in memory is what there is. */
export class JwksCacheEntry {
  readonly address: JwksAddress;
  /** The newest known state of the address; what no other process has stored yet is in it too. */
  snapshot: JwksSnapshot;
  private keysByKid: ReadonlyMap<string, readonly TrustedKey[]> = new Map();
  private mustRefresh = false;
  /** What the log says, and when it was said last by the monotonic clock. */
  private told: { readonly text: string; readonly atMs: number } | undefined;

  constructor(
    private trusted: JwksEntry,
    private readonly maxStaleSeconds: number,
    private readonly logger: Log,
  ) {
    this.address = toJwksAddress(trusted.url);
    this.snapshot = neverTried(this.address);
  }

  /** By whose policy the keys are trusted. */
  get entry(): JwksEntry {
    return this.trusted;
  }

  /** Trusts the keys by another policy from now on. */
  trustBy(entry: JwksEntry): void {
    this.trusted = entry;
    this.keysByKid = this.trusting(this.keys);
  }

  /** The keys with this kid, in the order of the set, unless they have become too old to serve. */
  keysFor(kid: string, nowMs: number): readonly TrustedKey[] {
    return (this.isInTime(nowMs) ? this.keysByKid.get(kid) : undefined) ?? [];
  }

  /** All keys that serve at this moment. */
  serving(nowMs: number): readonly TrustedKey[] {
    return this.isInTime(nowMs) ? this.keys : [];
  }

  /** Whether the leader should fetch now. */
  isDue(nowMs: number): boolean {
    const { nextRefreshAt } = this.snapshot;
    return (
      this.mustRefresh || nextRefreshAt === null || nowMs >= nextRefreshAt.getTime() || this.isAhead(nowMs)
    );
  }

  /** Whether the last fetch seems to lie in the future: a clock was set back, and the next would be as much too late. */
  private isAhead(nowMs: number): boolean {
    const { consecutiveFailures, lastFailureAt, lastSuccessAt } = this.snapshot;
    const lastAt = consecutiveFailures > 0 ? lastFailureAt : lastSuccessAt;
    return lastAt !== null && lastAt.getTime() > nowMs + CLOCK_DIFFERENCE_MS;
  }

  /** Makes the next fetch due at once. */
  refreshSoon(): void {
    this.mustRefresh = true;
  }

  /**
   * Takes over a state of the address. A key that it no longer has stops serving here. A state from before the first
   * success has nothing to take over, so the keys that are held, and the time that they have, stay.
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
      keys: this.entry.suspended === true ? 0 : this.serving(nowMs).length,
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
   * Logs each change of the state, and every 15 minutes one that needs somebody. To be called often.
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
    if (isWell) this.logger.info(fields, 'the key set of an entry serves again');
    else if (state === 'stale')
      this.logger.warn(fields, `the key set of an entry cannot be fetched: its keys serve until ${until}`);
    else this.logger.error(fields, `${UNSERVED[state]}: tokens of its entry are refused`);
  }

  /** What log lines about this entry carry: its state in the words of `status`. */
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
      // Only another version of this service could have stored such a text.
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

const UNSERVED: Readonly<Partial<Record<KeySetStateName, string>>> = {
  never_held: 'a key set was never fetched',
  lapsed: 'the keys of a key set have served their time',
  no_usable_key: 'a key set has no usable key',
};

function kidsMissingIn(keys: ReadonlyMap<string, unknown>, others: ReadonlyMap<string, unknown>): string[] {
  return [...others.keys()].filter((kid) => !keys.has(kid)).map(quoteKid);
}

/** The cached key sets of all JWKS entries: those of the configuration, which stay, and those of stored entries, which change. */
export class JwksCache {
  /** In the order of the configuration. */
  readonly configured: readonly JwksCacheEntry[];
  private all: readonly JwksCacheEntry[];

  constructor(
    configured: readonly JwksEntry[],
    private readonly maxStaleSeconds: number,
    private readonly logger: Log,
  ) {
    this.configured = configured.map((entry) => this.cacheOf(entry));
    this.all = this.configured;
  }

  /** Configured ones first. */
  get entries(): readonly JwksCacheEntry[] {
    return this.all;
  }

  /**
   * Takes other stored entries, but for those of a configured address. The keys of an address that was there before stay, under the
   * policy that its entry has now.
   * @returns those of addresses that were not there before
   */
  replaceStored(entries: readonly JwksEntry[]): readonly JwksCacheEntry[] {
    const before = this.all.slice(this.configured.length);
    const held = new Map(before.map((cached) => [cached.address.urlHash, cached]));
    const ownedByConfiguration = new Set(this.configured.map(({ address }) => address.urlHash));
    const stored = entries.flatMap((entry) => {
      const fresh = this.cacheOf(entry);
      if (ownedByConfiguration.has(fresh.address.urlHash)) return [];
      const cached = held.get(fresh.address.urlHash) ?? fresh;
      cached.trustBy(entry);
      return cached;
    });
    this.all = [...this.configured, ...stored];
    return stored.filter((cached) => !before.includes(cached));
  }

  private cacheOf(entry: JwksEntry): JwksCacheEntry {
    return new JwksCacheEntry(entry, this.maxStaleSeconds, this.logger);
  }
}
