// Lists what the instances have stored about fetched key sets.
import type { JwksSnapshot } from '../token-exchange/instance.js';
import { readJwks, thumbprintOf } from '../token-exchange/plain.js';
import type { Read } from './input.js';
import { readMembers } from './input.js';
import type { ListOperation } from './operation.js';

const SHA256 = /^[0-9a-f]{64}$/;

/** The addresses, as hashes of `toJwksAddress`: an address may hold a secret. */
export interface ChosenKeySets {
  readonly urlHashes: readonly string[];
}

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

export const LIST_KEY_SETS: ListOperation<ChosenKeySets, StoredKeySet> = {
  name: 'keys status',
  read: (input) => readMembers<ChosenKeySets>(input, { urlHashes: hashes }),

  async *list({ urlHashes }, { keySets }) {
    yield await Promise.all((await keySets.find(urlHashes)).map(storedKeySet));
  },
};

export function hashes(value: unknown): Read<readonly string[]> {
  const isList = Array.isArray(value) && value.every((hash) => typeof hash === 'string' && SHA256.test(hash));
  return isList ? { value: value as string[] } : { rule: 'must be a list of SHA-256 in hexadecimal' };
}

export async function storedKeySet(snapshot: JwksSnapshot): Promise<StoredKeySet> {
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
