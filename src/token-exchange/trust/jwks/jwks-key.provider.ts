// Provides the keys that issuers publish by JWKS: always from memory, fetched in the background.
import { isDeepStrictEqual } from 'node:util';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { AlwaysLeader, Leader } from '../../../platform/jobs/leader.js';
import { Notifications, SoleProcessNotifications } from '../../../platform/jobs/notifications.js';
import { Clock } from '../../../platform/clock.js';
import type { Log } from '../../../platform/log/log.js';
import { LOGGER, SILENT } from '../../../platform/log/log.js';
import type { KeySetFigures } from '../../host/telemetry.js';
import { ExchangeTelemetry, SilentTelemetry } from '../../host/telemetry.js';
import type { TokenExchangeOptions } from '../../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../../settings/token-exchange.options.js';
import type { JwksEntry, TrustPolicy, TrustedKey } from '../trusted-key.js';
import { JwksCache } from './jwks-cache-entry.js';
import type { JwksCacheEntry, JwksStatus } from './jwks-cache-entry.js';
import type { Algorithm } from '../algorithms.js';
import { MOST_TRIED_KEYS, quoteKid, writeJwks } from '../jwks-content.js';
import { JwksFetcher } from './jwks-fetcher.js';
import { JwksRefresh } from './jwks-refresh.js';
import { JwksSnapshotFollower } from './jwks-snapshot.follower.js';
import { JwksSnapshotRepository } from './jwks-snapshot.repository.js';
import type { KeySetState } from './key-set-state.js';
import { isServing } from './key-set-state.js';
import { UnknownKidSearch } from './unknown-kid-search.js';

const TICK_MS = 1_000;

type KeySetOptions = Pick<TokenExchangeOptions, 'jwks' | 'trustedKeys'>;

/**
 * Keys by issuer and kid, as the issuers publish them.
 *
 * The leader fetches and stores key sets, and every instance follows the stored ones. If an endpoint fails, its keys stay for a
 * bounded time. Another key set replaces them at once.
 */
@Injectable()
export class JwksKeyProvider implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly cache: JwksCache;
  private readonly refresh: JwksRefresh;
  private readonly follower: JwksSnapshotFollower;
  private readonly unknownKids: UnknownKidSearch;
  private readonly loggedAmbiguities = new WeakSet<TrustedKey>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(TOKEN_EXCHANGE_OPTIONS) { jwks, trustedKeys }: KeySetOptions,
    snapshots: JwksSnapshotRepository,
    notifications: Notifications,
    private readonly leader: Leader,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
    telemetry: ExchangeTelemetry,
  ) {
    const configured = trustedKeys.filter((entry) => entry.type === 'jwks');
    this.cache = new JwksCache(configured, jwks.maxStaleSeconds, logger);
    this.refresh = new JwksRefresh(jwks, new JwksFetcher(jwks), snapshots, clock, logger, telemetry);
    this.follower = new JwksSnapshotFollower(this.cache, snapshots, notifications, clock, logger);
    this.unknownKids = new UnknownKidSearch(snapshots, this.follower, this.refresh, clock);
  }

  /** A provider for reading only: it has the keys of `readStored`, and fetches nothing. */
  static unstarted(options: KeySetOptions, snapshots: JwksSnapshotRepository, clock: Clock): JwksKeyProvider {
    const [news, telemetry] = [new SoleProcessNotifications(), new SilentTelemetry()];
    return new JwksKeyProvider(options, snapshots, news, new AlwaysLeader(), clock, SILENT, telemetry);
  }

  /**
   * Reads the stored key sets, and starts refreshing in the background.
   * @rule 5.3.1 Keys are fetched when the instance starts; of several instances by the leader, for all.
   */
  async onApplicationBootstrap(): Promise<void> {
    await this.follower.start();
    if (this.leader.isLeader) for (const cached of this.cache.entries) cached.refreshSoon();
    this.timer = setInterval(() => void this.tick(), TICK_MS);
    this.timer.unref();
    void this.tick();
  }

  /** Ends the background work. Waits for a running fetch, 5 seconds at most. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.follower.stop();
    await this.refresh.idle();
  }

  /**
   * Takes other stored entries. A stored key set of a new address is used at once, and fetched by the leader within a second, since
   * its issuer may have withdrawn keys while no entry named it. Never rejects.
   */
  async replaceStored(entries: readonly JwksEntry[]): Promise<void> {
    const added = this.cache.replaceStored(entries);
    await this.follower.start();
    // Also on followers, because the leader may end before it has fetched them.
    for (const cached of added) cached.refreshSoon();
  }

  /** Replaces the stored entries, and reads the stored key sets once. @throws the driver's error */
  async readStored(entries: readonly JwksEntry[]): Promise<void> {
    this.cache.replaceStored(entries);
    await this.follower.follow();
  }

  /** Does what is due now, and resolves when it is done. Called every second. Never rejects. */
  async tick(): Promise<void> {
    const nowMs = this.clock.nowMs();
    const due = this.leader.isLeader ? this.cache.entries.filter((cached) => cached.isDue(nowMs)) : [];
    await Promise.all([this.follower.poll(), ...due.map((cached) => this.refresh.refresh(cached))]);
    // One instance logs for all.
    if (!this.leader.isLeader) return;
    for (const cached of this.cache.entries) cached.tellState(this.clock.nowMs(), this.clock.monotonicMs());
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
    const isStarted = this.timer !== undefined;
    if (held.length > 0 || candidates.length === 0 || !isStarted) return this.toTry(held, algorithm);
    return this.search(candidates, kid, algorithm);
  }

  /** All entries, including suspended ones. */
  get entries(): readonly JwksEntry[] {
    return this.cache.entries.map(({ entry }) => entry);
  }

  /** All usable keys of an issuer in memory. */
  keysOf(issuer: string): readonly TrustedKey[] {
    return this.ofIssuer(issuer).flatMap((cached) => cached.serving(this.clock.nowMs()));
  }

  /** The state of an issuer's first key set without a usable key; undefined if there is none. */
  unservingKeySet(issuer: string): KeySetState | undefined {
    const states = this.ofIssuer(issuer).map((cached) => cached.state(this.clock.nowMs()));
    return states.find((state) => !isServing(state));
  }

  /** Seconds until an unknown kid of an issuer may cause a fetch; undefined if the next one may. */
  secondsToNextSearch(issuer: string): number | undefined {
    const lefts = this.ofIssuer(issuer).map((cached) => this.unknownKids.windowLeftMs(cached));
    const waits = lefts.filter((ms) => ms > 0);
    return waits.length === 0 ? undefined : Math.min(...waits) / 1000;
  }

  /** As `find`, for configured entries in memory. */
  findConfigured(issuer: string, kid: string, algorithm: Algorithm | undefined): readonly TrustedKey[] {
    const configured = this.cache.configured.filter(({ entry }) => entry.issuer === issuer);
    return this.toTry(this.heldBy(configured, kid), algorithm);
  }

  /** The state of each entry, in the order of the configuration; then the stored ones. */
  status(): readonly JwksStatus[] {
    return this.cache.entries.map((cached) => cached.status(this.clock.nowMs()));
  }

  /** As `status`, of configured entries only. */
  configuredStatus(): readonly JwksStatus[] {
    return this.cache.configured.map((cached) => cached.status(this.clock.nowMs()));
  }

  /** The figures of each entry for metrics, in the order of `status`. */
  keySets(): readonly KeySetFigures[] {
    const nowMs = this.clock.nowMs();
    return this.cache.entries.map((cached) => figuresOf(cached.status(nowMs), nowMs));
  }

  private ofIssuer(issuer: string): readonly JwksCacheEntry[] {
    return this.cache.entries.filter(({ entry }) => entry.issuer === issuer);
  }

  /** Searches for a kid that is not in memory. */
  private async search(
    candidates: readonly JwksCacheEntry[],
    kid: string,
    algorithm: Algorithm | undefined,
  ): Promise<readonly TrustedKey[]> {
    await Promise.all(candidates.map((cached) => this.unknownKids.search(cached, kid)));
    return this.toTry(this.held(candidates, kid), algorithm);
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
    this.logger.warn(fields, `several JWKS entries hold this kid, ${outcome}`);
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
  return keys.filter(isFirst).slice(0, MOST_TRIED_KEYS);
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
