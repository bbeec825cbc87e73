// Lists the stored key sets of entries, requests an immediate fetch, and tries a key set without storing it.
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { storableString, wholeNumber } from '../../platform/input/schemas.js';
import type {
  JwksEntry,
  JwksSnapshot,
  KeySetState,
  TrustedKeysRules,
} from '../../token-exchange/instance.js';
import {
  isInUse,
  JwksContentError,
  JwksFetcher,
  JwksFetchError,
  JwksSnapshotRepository,
  keySetInWords,
  keySetState,
  labelOf,
  neverTried,
  readJwks,
  SECTIONS,
  StoredEntryChanges,
  thumbprintOf,
  toJwksAddress,
  transmitterEntry,
} from '../../token-exchange/instance.js';
import { trustedEntries } from '../entries/entries.operations.js';
import { AdministrationSettings, CommandError, inputOf, Read, readNothing } from '../operation.js';
import { printable, quoted } from '../table.js';

/** The stored state of an address. Times are ISO 8601. A fetch has the time of its start. */
interface StoredKeySet {
  readonly state: KeySetState['state'];
  /** When the use of its keys ends or ended; null if there are none. */
  readonly servesUntil: string | null;
  /** Why there is nothing newer or nothing usable; null while the keys are held. */
  readonly reason: string | null;
  /** The `kid` of each key in use. */
  readonly kids: readonly string[];
  /** Thumbprints (RFC 7638, SHA-256) in the order of `kids`; null for a key without one. */
  readonly thumbprints: readonly (string | null)[];
  readonly lastSuccess: string | null;
  readonly lastFailure: { readonly at: string; readonly reason: string } | null;
  readonly nextRefresh: string | null;
}

export interface EntryKeySet extends StoredKeySet {
  readonly entry: string;
  /** The address without its query, which may be secret. */
  readonly url: string;
}

const POLL_INTERVAL_MS = 500;
export const LONGEST_WAIT_SECONDS = 60;

export interface Refreshed extends Pick<EntryKeySet, 'entry' | 'url' | 'servesUntil' | 'reason' | 'kids'> {
  /** False if the fetch failed; null if none was tried in time. */
  readonly fetched: boolean | null;
  readonly failure: string | null;
  readonly state: StoredKeySet['state'] | null;
}

const readRefresh = inputOf({
  /** The entry's label or name; default: all entries. */
  entry: storableString().optional(),
  /** How long to wait for a result, in seconds. */
  wait: wholeNumber(1, LONGEST_WAIT_SECONDS),
});

@Injectable()
export class KeySetOperations {
  constructor(
    private readonly entries: StoredEntryChanges,
    private readonly keySets: JwksSnapshotRepository,
    private readonly clock: Clock,
    private readonly settings: AdministrationSettings,
  ) {}

  /** Each entry of type jwks, configured ones first, then the transmitters of security events. */
  @Read('keys status', readNothing)
  async list(): Promise<readonly EntryKeySet[]> {
    return this.storedFor(await this.jwksEntries());
  }

  /**
   * Makes the fetch due in the database, so the leader fetches as usual, whichever instance receives the command (D36). See
   * jwks.service.ts for how the leader notices it.
   */
  @Read('keys refresh', readRefresh, { isAct: true })
  async refresh(
    { entry, wait }: ReturnType<typeof readRefresh>,
    stop: AbortSignal,
  ): Promise<readonly Refreshed[]> {
    const entries = await this.jwksEntries(entry);
    if (entries.length === 0) throw new CommandError('No trusted key entry is of type jwks.');
    const before = new Map((await this.storedFor(entries)).map((set) => [set.entry, set]));
    await this.keySets.makeDue(entries.map(({ url }) => toJwksAddress(url).urlHash));
    const isTried = (set: EntryKeySet) => attemptOf(set) !== attemptOf(before.get(set.entry));
    const deadline = performance.now() + wait * 1000;
    let sets = [...before.values()];
    while (!sets.every(isTried) && performance.now() < deadline && !stop.aborted) {
      await pause(POLL_INTERVAL_MS, undefined, { signal: stop }).catch(() => undefined);
      sets = await this.storedFor(entries);
    }
    return sets.map((set) => (isTried(set) ? refreshed(set) : untried(set)));
  }

  /** @param name an entry's name; default: all entries @throws CommandError if no entry has it */
  private async jwksEntries(name?: string): Promise<JwksEntry[]> {
    const all = [
      ...(await trustedEntries(this.entries)).filter((entry) => entry.type === 'jwks'),
      ...this.settings.transmitters.map(transmitterEntry),
    ];
    if (name === undefined) return all;
    const named = all.filter(({ label }) => label === name || label === labelOf(name));
    if (named.length > 0) return named;
    throw new CommandError(`There is no trusted key entry of type jwks called ${quoted(name)}.`);
  }

  private async storedFor(entries: readonly JwksEntry[]): Promise<EntryKeySet[]> {
    const addresses = entries.map(({ label, url }) => ({ entry: label, ...toJwksAddress(url) }));
    const found = await this.keySets.find([...new Set(addresses.map(({ urlHash }) => urlHash))]);
    const byHash = new Map(found.map((snapshot) => [snapshot.urlHash, snapshot]));
    return Promise.all(
      addresses.map(async ({ entry, url, urlHash }) => {
        const snapshot = byHash.get(urlHash) ?? neverTried({ url, urlHash });
        return { entry, url, ...(await storedKeySet(snapshot, this.clock.nowMs())) };
      }),
    );
  }
}

async function storedKeySet(snapshot: JwksSnapshot, nowMs: number): Promise<StoredKeySet> {
  const { keySet, lastSuccessAt, lastFailureAt, lastFailureReason, nextRefreshAt } = snapshot;
  const failure = lastFailureAt
    ? { at: lastFailureAt.toISOString(), reason: lastFailureReason ?? 'unknown' }
    : null;
  const { state, servesUntil, reason } = keySetState(
    snapshot,
    SECTIONS.jwks.maxStaleSeconds.parse(undefined),
    nowMs,
  );
  const keys = keySet === null || !isInUse({ state }) ? [] : readJwks(Buffer.from(keySet)).keys;
  const thumbprints = await Promise.all(keys.map(({ publicKey }) => thumbprintOf(publicKey)));
  return {
    state,
    servesUntil: servesUntil?.toISOString() ?? null,
    reason: reason ?? null,
    kids: keys.map(({ kid }) => kid),
    thumbprints: thumbprints.map((one) => one ?? null),
    lastSuccess: lastSuccessAt?.toISOString() ?? null,
    lastFailure: failure,
    nextRefresh: nextRefreshAt?.toISOString() ?? null,
  };
}

/** The same words as in logs and in explanations of refused tokens. */
export function storedKeySetInWords({
  state,
  servesUntil,
  reason,
}: Pick<StoredKeySet, 'state' | 'servesUntil' | 'reason'>): string {
  const until = servesUntil === null ? undefined : new Date(servesUntil);
  return keySetInWords({ state, servesUntil: until, reason: reason ?? undefined });
}

/** Distinguishes the fetches of an address. */
function attemptOf(set: StoredKeySet | undefined): string {
  return JSON.stringify([set?.lastSuccess, set?.lastFailure?.at]);
}

/** The newer of success and failure is the result. */
function refreshed({ entry, url, lastSuccess, lastFailure, ...set }: EntryKeySet): Refreshed {
  const hasFailed = lastFailure !== null && (lastSuccess === null || lastFailure.at > lastSuccess);
  const failure = hasFailed ? lastFailure.reason : null;
  const { state, servesUntil, reason, kids } = set;
  return { entry, url, fetched: !hasFailed, failure, state, servesUntil, reason, kids };
}

function untried({ entry, url }: EntryKeySet): Refreshed {
  return { entry, url, fetched: null, failure: null, state: null, servesUntil: null, reason: null, kids: [] };
}

interface FetchedKeySet {
  readonly entry: string;
  /** Without its query. */
  readonly url: string;
  readonly keys: readonly { readonly kid: string; readonly algorithms: readonly string[] }[];
  /** The keys that are not used, and why. */
  readonly dropped: readonly string[];
  /** The answer's freshness lifetime in seconds; null if it names none. */
  readonly maxAgeSeconds: number | null;
  /** Why the fetch failed; null if it succeeded. */
  readonly failure: string | null;
}

interface NamedKeySet {
  readonly label: string;
  readonly url: string;
}

/** Fetches all addresses at once with the service's fetcher, so its limits of addresses, time and size apply. */
export function fetchKeySets(
  entries: readonly NamedKeySet[],
  { allowHttp, allowPrivate = [], jwksSettingNames: settingNames }: TrustedKeysRules,
): Promise<FetchedKeySet[]> {
  const fetcher = new JwksFetcher({ allowHttp, allowPrivate, settingNames });
  return Promise.all(entries.map((entry) => fetchKeySet(entry, fetcher)));
}

async function fetchKeySet({ label, url }: NamedKeySet, fetcher: JwksFetcher): Promise<FetchedKeySet> {
  const place = { entry: label, url: toJwksAddress(url).url };
  try {
    const { body, maxAgeSeconds = null } = await fetcher.fetch(url);
    const { keys: read, warnings: dropped } = readJwks(body);
    const keys = read.map(({ kid, algorithms }) => ({ kid, algorithms: [...algorithms] }));
    return { ...place, keys, dropped, maxAgeSeconds, failure: null };
  } catch (error) {
    if (!(error instanceof JwksFetchError || error instanceof JwksContentError)) throw error;
    return { ...place, keys: [], dropped: [], maxAgeSeconds: null, failure: error.message };
  }
}

export function fetchedInWords({ entry, url, keys, dropped, maxAgeSeconds, failure }: FetchedKeySet): string {
  const named = keys.map(({ kid, algorithms }) => `${kid} (${algorithms.join(', ')})`).join(', ');
  const fresh = maxAgeSeconds === null ? '' : `, fresh for ${maxAgeSeconds} s`;
  const lines = [
    failure === null
      ? `fetched: ${entry}, ${url}: ${named === '' ? 'no usable key' : named}${fresh}`
      : `not fetched: ${entry}, ${url}: ${failure}`,
    ...dropped.map((reason) => `  not used: ${reason}`),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}
