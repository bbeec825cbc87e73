// Lists what the instances have stored about fetched key sets, and asks them to fetch now.
import { setTimeout as pause } from 'node:timers/promises';
import type { JwksSnapshot, KeySetState } from '../token-exchange/instance.js';
import { isServing, keySetState } from '../token-exchange/instance.js';
import { SETTINGS, readJwks, thumbprintOf } from '../token-exchange/plain.js';
import type { Read } from './input.js';
import { members, wholeNumber } from './input.js';
import type { InstanceParts } from './instance-parts.js';
import { listOperation } from './operation.js';

const SHA256 = /^[0-9a-f]{64}$/;

/** The addresses, as hashes of `toJwksAddress`: an address may hold a secret. */
const CHOSEN_KEY_SETS = { urlHashes: hashes };

/** The stored state of one address. Times are ISO 8601; those of fetches are of their beginning. */
export interface StoredKeySet {
  readonly urlHash: string;
  readonly state: KeySetState['state'];
  /** Until when its keys serve, or have served; null where there are none. */
  readonly servesUntil: string | null;
  /** Why nothing newer or nothing usable is there; null while the keys are held. */
  readonly reason: string | null;
  /** Of the keys that serve. */
  readonly kids: readonly string[];
  /** SHA-256 of each key (RFC 7638), in the order of `kids`; null where a key has none. */
  readonly thumbprints: readonly (string | null)[];
  readonly lastSuccess: string | null;
  readonly lastFailure: { readonly at: string; readonly reason: string } | null;
  readonly nextRefresh: string | null;
}

export const LIST_KEY_SETS = listOperation('keys status', members(CHOSEN_KEY_SETS), {
  async *list({ urlHashes }, parts) {
    yield await storedKeySets(urlHashes, parts);
  },
});

/** One for each address. */
async function storedKeySets(
  urlHashes: readonly string[],
  { keySets, clock }: Pick<InstanceParts, 'keySets' | 'clock'>,
): Promise<StoredKeySet[]> {
  const found = new Map((await keySets.find(urlHashes)).map((snapshot) => [snapshot.urlHash, snapshot]));
  return Promise.all(
    [...new Set(urlHashes)].map((urlHash) =>
      storedKeySet({ ...(found.get(urlHash) ?? NEVER_TRIED), urlHash }, clock.nowMs()),
    ),
  );
}

const NEVER_TRIED: Omit<StoredSnapshot, 'urlHash'> = {
  keySet: null,
  freshUntil: null,
  lastSuccessAt: null,
  lastFailureAt: null,
  lastFailureReason: null,
  consecutiveFailures: 0,
  nextRefreshAt: null,
};

type StoredSnapshot = Omit<JwksSnapshot, 'url' | 'lastUnknownKidFetchAt' | 'revision'>;

function hashes(value: unknown): Read<readonly string[]> {
  const isList = Array.isArray(value) && value.every((hash) => typeof hash === 'string' && SHA256.test(hash));
  return isList ? { value: value as string[] } : { rule: 'must be a list of SHA-256 in hexadecimal' };
}

async function storedKeySet(snapshot: StoredSnapshot, nowMs: number): Promise<StoredKeySet> {
  const { urlHash, keySet, lastSuccessAt, lastFailureAt, lastFailureReason, nextRefreshAt } = snapshot;
  const failure = lastFailureAt
    ? { at: lastFailureAt.toISOString(), reason: lastFailureReason ?? 'unknown' }
    : null;
  const { state, servesUntil, reason } = keySetState(snapshot, SETTINGS.jwks.maxStaleSeconds.default, nowMs);
  const keys = keySet === null || !isServing({ state }) ? [] : readJwks(Buffer.from(keySet)).keys;
  const thumbprints = await Promise.all(keys.map(({ publicKey }) => thumbprintOf(publicKey)));
  return {
    urlHash,
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

const LOOK_EVERY_MS = 500;
export const LONGEST_WAIT_SECONDS = 60;

const readRefresh = members({
  ...CHOSEN_KEY_SETS,
  /** How long an outcome is waited for. */
  waitSeconds: wholeNumber(1, LONGEST_WAIT_SECONDS),
});

/**
 * The leader fetches, also if another instance gets the command: what is due is in the database. An item comes for each address
 * with an outcome since; addresses without one in time have none.
 * @rule D118 A key set is fetched at once by making it due in the database, so that the leader does it as it always does. See
 * jwks-snapshot.follower.ts for how the leader hears of it.
 */
export const REFRESH_KEY_SETS = listOperation('keys refresh', readRefresh, {
  isAct: true,

  async *list({ urlHashes, waitSeconds }, parts, stop) {
    const sets = await storedKeySets(urlHashes, parts);
    const before = new Map(sets.map((set) => [set.urlHash, attemptOf(set)]));
    await parts.keySets.makeDue(urlHashes);
    const open = new Set(urlHashes);
    const deadline = performance.now() + waitSeconds * 1000;
    while (open.size > 0 && performance.now() < deadline && !stop.aborted) {
      await pause(LOOK_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
      const found = await storedKeySets([...open], parts);
      const settled = found.filter((set) => attemptOf(set) !== before.get(set.urlHash));
      for (const { urlHash } of settled) open.delete(urlHash);
      // Also an empty page, to find out whether the client still waits.
      yield settled;
    }
  },
});

/** Distinguishes one attempt of an address from the next. */
function attemptOf({ lastSuccess, lastFailure }: StoredKeySet): string {
  return JSON.stringify([lastSuccess, lastFailure?.at]);
}
