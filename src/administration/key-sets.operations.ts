// Lists what the instances have stored about fetched key sets, and asks them to fetch now.
import { setTimeout as pause } from 'node:timers/promises';
import type { JwksSnapshot, JwksSnapshotRepository } from '../token-exchange/instance.js';
import { readJwks, thumbprintOf } from '../token-exchange/plain.js';
import type { Read } from './input.js';
import { members, wholeNumber } from './input.js';
import { listOperation } from './operation.js';

const SHA256 = /^[0-9a-f]{64}$/;

/** The addresses, as hashes of `toJwksAddress`: an address may hold a secret. */
const CHOSEN_KEY_SETS = { urlHashes: hashes };

/** The stored state of one address. Times are ISO 8601; those of fetches are of their beginning. */
export interface StoredKeySet {
  readonly urlHash: string;
  readonly kids: readonly string[];
  /** SHA-256 of each key (RFC 7638), in the order of `kids`; null where a key has none. */
  readonly thumbprints: readonly (string | null)[];
  readonly lastSuccess: string | null;
  readonly lastFailure: { readonly at: string; readonly reason: string } | null;
  readonly nextRefresh: string | null;
}

export const LIST_KEY_SETS = listOperation('keys status', members(CHOSEN_KEY_SETS), {
  async *list({ urlHashes }, { keySets }) {
    yield await Promise.all((await keySets.find(urlHashes)).map(storedKeySet));
  },
});

function hashes(value: unknown): Read<readonly string[]> {
  const isList = Array.isArray(value) && value.every((hash) => typeof hash === 'string' && SHA256.test(hash));
  return isList ? { value: value as string[] } : { rule: 'must be a list of SHA-256 in hexadecimal' };
}

async function storedKeySet(snapshot: JwksSnapshot): Promise<StoredKeySet> {
  const { urlHash, keySet, lastSuccessAt, lastFailureAt, lastFailureReason, nextRefreshAt } = snapshot;
  const failure = lastFailureAt
    ? { at: lastFailureAt.toISOString(), reason: lastFailureReason ?? 'unknown' }
    : null;
  const keys = keySet === null ? [] : readJwks(Buffer.from(keySet)).keys;
  const thumbprints = await Promise.all(keys.map(({ publicKey }) => thumbprintOf(publicKey)));
  return {
    urlHash,
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

  async *list({ urlHashes, waitSeconds }, { keySets }, stop) {
    const before = await attemptsOf(keySets, urlHashes);
    await keySets.makeDue(urlHashes);
    const open = new Set(urlHashes);
    const deadline = performance.now() + waitSeconds * 1000;
    while (open.size > 0 && performance.now() < deadline && !stop.aborted) {
      await pause(LOOK_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
      const found = await Promise.all((await keySets.find([...open])).map(storedKeySet));
      const settled = found.filter((set) => attemptOf(set) !== before.get(set.urlHash));
      for (const { urlHash } of settled) open.delete(urlHash);
      // Also an empty page, to find out whether the client still waits.
      yield settled;
    }
  },
});

/** Distinguishes one attempt of an address from the next. */
async function attemptsOf(
  keySets: JwksSnapshotRepository,
  urlHashes: readonly string[],
): Promise<Map<string, string>> {
  const stored = await Promise.all((await keySets.find(urlHashes)).map(storedKeySet));
  return new Map(stored.map((set) => [set.urlHash, attemptOf(set)]));
}

function attemptOf({ lastSuccess, lastFailure }: StoredKeySet): string {
  return JSON.stringify([lastSuccess, lastFailure?.at]);
}
