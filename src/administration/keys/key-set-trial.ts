// Fetches a key set once, as the service would, and reports which keys it would use. Nothing is stored.
import type { TrustedKeysRules } from '../../token-exchange/instance.js';
import {
  JwksContentError,
  JwksFetchError,
  JwksFetcher,
  readJwks,
  toJwksAddress,
} from '../../token-exchange/instance.js';
import { printable } from '../table.js';

/** The result for an address. */
export interface FetchedKeySet {
  /** The entry's name. */
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

/** An entry with a key set, or a draft of one. */
export interface NamedKeySet {
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

/** Formats the commands for people. */
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
