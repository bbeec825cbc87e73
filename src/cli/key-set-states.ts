// What is stored about the key set of each JWKS entry, in the words of the command line.
import { readJwks } from '../token-exchange/keys/jwks/jwks-content.js';
import type {
  JwksSnapshot,
  JwksSnapshotRepository,
} from '../token-exchange/keys/jwks/jwks-snapshot.repository.js';
import { toJwksAddress } from '../token-exchange/keys/jwks/jwks-snapshot.repository.js';
import type { JwksEntry } from '../token-exchange/keys/trusted-key.js';

/** The state of one entry. Times are ISO 8601; those of fetches tell when they began. */
export interface KeySetState {
  readonly entry: string;
  /** Without its query. */
  readonly url: string;
  readonly kids: readonly string[];
  readonly lastSuccess: string | null;
  readonly lastFailure: { readonly at: string; readonly reason: string } | null;
  readonly nextRefresh: string | null;
}

/** The states of entries, in their order. */
export async function keySetStates(
  entries: readonly JwksEntry[],
  snapshots: JwksSnapshotRepository,
): Promise<KeySetState[]> {
  const addresses = entries.map(({ url }) => toJwksAddress(url));
  const stored = await snapshots.find(addresses.map(({ urlHash }) => urlHash));
  const byHash = new Map(stored.map((snapshot) => [snapshot.urlHash, snapshot]));
  return entries.map(({ label, url }) => {
    const { urlHash, url: shown } = toJwksAddress(url);
    return { entry: label, url: shown, ...stateOf(byHash.get(urlHash)) };
  });
}

function stateOf(snapshot: JwksSnapshot | undefined): Omit<KeySetState, 'entry' | 'url'> {
  const { keySet = null, lastSuccessAt, lastFailureAt, lastFailureReason, nextRefreshAt } = snapshot ?? {};
  const failure = lastFailureAt
    ? { at: lastFailureAt.toISOString(), reason: lastFailureReason ?? 'unknown' }
    : null;
  return {
    kids: keySet === null ? [] : readJwks(Buffer.from(keySet)).keys.map(({ kid }) => kid),
    lastSuccess: lastSuccessAt?.toISOString() ?? null,
    lastFailure: failure,
    nextRefresh: nextRefreshAt?.toISOString() ?? null,
  };
}
