// Provides the keys that issuers publish by JWKS: always from memory, fetched in the background.
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../platform/clock.js';
import type { Log } from '../../../platform/log/log.js';
import type { KeySetFigures } from '../../host/telemetry.js';
import type { Algorithm } from '../algorithms.js';
import { MAX_TRIED_KEYS, quoteKid, writeJwks } from '../jwks-content.js';
import type { JwksEntry, TrustedKey, TrustPolicy } from '../trusted-key.js';
import type { JwksStatus, KeySetState } from './jwks-cache-entry.js';
import { isInUse, JwksCacheEntry } from './jwks-cache-entry.js';
import type { UnknownKidSearch } from './unknown-kid-search.js';

/** Keys by issuer and kid, as the issuers publish them. `JwksService` provides those of trusted key entries. */
export class JwksKeyProvider {
  private readonly loggedAmbiguities = new WeakSet<TrustedKey>();
  /** In the order of the configuration. */
  private readonly configured: readonly JwksCacheEntry[];
  private all: readonly JwksCacheEntry[];

  /** @param unknownKids absent: an unknown kid causes no fetch */
  constructor(
    configured: readonly JwksEntry[],
    private readonly maxStaleSeconds: number,
    private readonly clock: Clock,
    private readonly logger: Log,
    private readonly unknownKids?: UnknownKidSearch,
  ) {
    this.configured = configured.map((entry) => this.cacheOf(entry));
    this.all = this.configured;
  }

  /** The key sets of all entries, configured ones first. */
  get cached(): readonly JwksCacheEntry[] {
    return this.all;
  }

  /**
   * Replaces the stored entries, except those with a configured address. Keys of a known address stay, under its entry's new
   * policy.
   * @returns the entries with new addresses, for `JwksService.begin`
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

  /**
   * The keys to try for the algorithm, at most three; if none fits it, all keys of the kid. Known keys are found without waiting.
   * An unknown kid may cause one bounded fetch.
   */
  find(
    issuer: string,
    kid: string,
    algorithm: Algorithm | undefined,
  ): readonly TrustedKey[] | Promise<readonly TrustedKey[]> {
    const candidates = this.ofIssuer(issuer);
    const held = this.held(candidates, kid);
    const { unknownKids } = this;
    if (held.length > 0 || candidates.length === 0 || unknownKids === undefined)
      return this.toTry(held, algorithm);
    const searches = candidates.map((cached) => unknownKids.search(cached, kid));
    return Promise.all(searches).then(() => this.toTry(this.held(candidates, kid), algorithm));
  }

  issuers(): ReadonlySet<string> {
    return new Set(this.entries.map(({ issuer }) => issuer));
  }

  /** All entries, including suspended ones. */
  get entries(): readonly JwksEntry[] {
    return this.all.map(({ entry }) => entry);
  }

  /** All usable keys of an issuer in memory. */
  keysOf(issuer: string): readonly TrustedKey[] {
    return this.ofIssuer(issuer).flatMap((cached) => cached.usableKeys(this.clock.nowMs()));
  }

  /** The state of an issuer's first key set without a usable key; undefined if there is none. */
  unusableKeySet(issuer: string): KeySetState | undefined {
    const states = this.ofIssuer(issuer).map((cached) => cached.state(this.clock.nowMs()));
    return states.find((state) => !isInUse(state));
  }

  /** Seconds until an unknown kid of an issuer may cause a fetch; undefined if the next one may. */
  secondsToNextSearch(issuer: string): number | undefined {
    const lefts = this.ofIssuer(issuer).map((cached) => this.unknownKids?.windowLeftMs(cached) ?? 0);
    const waits = lefts.filter((ms) => ms > 0);
    return waits.length === 0 ? undefined : Math.min(...waits) / 1000;
  }

  /** As `find`, for configured entries in memory. */
  findConfigured(issuer: string, kid: string, algorithm: Algorithm | undefined): readonly TrustedKey[] {
    const configured = this.configured.filter(({ entry }) => entry.issuer === issuer);
    return this.toTry(this.heldBy(configured, kid), algorithm);
  }

  /** The state of each entry, in the order of the configuration; then the stored ones. */
  status(): readonly JwksStatus[] {
    return this.all.map((cached) => cached.status(this.clock.nowMs()));
  }

  /** As `status`, of configured entries only. */
  configuredStatus(): readonly JwksStatus[] {
    return this.configured.map((cached) => cached.status(this.clock.nowMs()));
  }

  /** The figures of each entry for metrics, in the order of `status`. */
  keySets(): readonly KeySetFigures[] {
    const nowMs = this.clock.nowMs();
    return this.all.map((cached) => figuresOf(cached.status(nowMs), nowMs));
  }

  private cacheOf(entry: JwksEntry): JwksCacheEntry {
    return new JwksCacheEntry(entry, this.maxStaleSeconds, this.logger);
  }

  private ofIssuer(issuer: string): readonly JwksCacheEntry[] {
    return this.all.filter(({ entry }) => entry.issuer === issuer);
  }

  /**
   * The keys of configured entries, otherwise of the first stored entry that is not suspended, otherwise of the first one (D70).
   */
  private held(candidates: readonly JwksCacheEntry[], kid: string): readonly TrustedKey[] {
    const held = this.heldBy(candidates, kid);
    const ofConfigured = held.filter(({ policy }) => policy.entryIndex !== undefined);
    const first = held.find(({ policy }) => policy.suspended !== true) ?? held[0];
    const used =
      ofConfigured.length > 0 ? ofConfigured : held.filter(({ policy }) => policy === first?.policy);
    this.tellUnused(held, used);
    return used;
  }

  private heldBy(candidates: readonly JwksCacheEntry[], kid: string): readonly TrustedKey[] {
    return candidates.flatMap((cached) => cached.keysFor(kid, this.clock.nowMs()));
  }

  /** If keys belong to entries with different policies, none is used, because a token's policy would be unclear (D37). */
  private toTry(held: readonly TrustedKey[], algorithm: Algorithm | undefined): readonly TrustedKey[] {
    const fitting = held.filter(({ algorithms }) => algorithm !== undefined && algorithms.has(algorithm));
    const [key, ...others] = fitting.length > 0 ? fitting : held;
    if (key === undefined || others.length === 0) return key === undefined ? [] : [key];
    if (others.every(({ policy }) => isSamePolicy(policy, key.policy)))
      return firstDifferent([key, ...others]);
    this.tellShared(key, [key, ...others]);
    return [];
  }

  private tellUnused(held: readonly TrustedKey[], used: readonly TrustedKey[]): void {
    if (held.length === used.length) return;
    const unused = held.find((key) => !used.includes(key));
    if (unused !== undefined) this.tellShared(unused, held, used[0]?.policy.label);
  }

  /** Logs once that a key is not used. @param used the entry whose keys are used; undefined: none */
  private tellShared(unused: TrustedKey, held: readonly TrustedKey[], used?: string): void {
    if (this.loggedAmbiguities.has(unused)) return;
    this.loggedAmbiguities.add(unused);
    const entries = [...new Set(held.map(({ policy }) => policy.label))];
    const fields = { entries, used, kid: quoteKid(unused.kid) };
    const outcome =
      used === undefined ? 'with different policies; none of its keys is used' : 'the keys of one are used';
    this.logger.warn(fields, `several JWKS entries have this kid, ${outcome}`);
  }
}

/** Whether two policies are equal, apart from names, addresses and seats, which are the issuer's. */
function isSamePolicy(one: TrustPolicy, other: TrustPolicy): boolean {
  return one === other || isDeepStrictEqual(trustIn(one), trustIn(other));
}

/** With clients' keys as strings, because Node.js 20 and 22 compare two key objects of one key as different. */
function trustIn(policy: TrustPolicy): object {
  const clients = [...(policy.clients?.values() ?? [])].map((client) =>
    'keys' in client ? { ...client, keys: writeJwks(client.keys) } : client,
  );
  return { ...policy, label: '', entryIndex: 0, url: '', cacheTtlSeconds: 0, maxUsers: 0, clients };
}

/** A key of two entries is tried once. */
function firstDifferent(keys: readonly TrustedKey[]): readonly TrustedKey[] {
  const isFirst = ({ publicKey }: TrustedKey, at: number) =>
    !keys.slice(0, at).some((earlier) => earlier.publicKey.equals(publicKey));
  return keys.filter(isFirst).slice(0, MAX_TRIED_KEYS);
}

function figuresOf(status: JwksStatus, nowMs: number): KeySetFigures {
  const { label: entry, issuer, lastSuccessAt, nextRefreshAt, state } = status;
  return {
    entry,
    issuer,
    ageSeconds: lastSuccessAt && (nowMs - lastSuccessAt.getTime()) / 1000,
    nextRefreshSeconds: nextRefreshAt && (nextRefreshAt.getTime() - nowMs) / 1000,
    state,
  };
}
