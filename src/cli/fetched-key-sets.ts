// Fetches key sets now, as the service would, and says what came.
import { JwksFetcher, JwksFetchError, toJwksAddress } from '../token-exchange/instance.js';
import type { JwksEntry, JwksKey, TrustedKeysRules } from '../token-exchange/plain.js';
import { JwksContentError, readJwks } from '../token-exchange/plain.js';
import { printable } from './table.js';

/** What came of one address. */
export interface FetchedKeySet {
  readonly entry: string;
  /** Without its query. */
  readonly url: string;
  readonly keys: readonly { readonly kid: string; readonly algorithms: readonly string[] }[];
  /** Each key that is not used, and why. */
  readonly dropped: readonly string[];
  /** How long the answer says that it is fresh, in seconds; null where it does not say. */
  readonly maxAgeSeconds: number | null;
  /** Why nothing came; null where something did. */
  readonly failure: string | null;
}

/**
 * Asks all addresses at the same moment, by the fetcher of the service: its addresses, deadline and sizes hold. Nothing is
 * stored. Never rejects for what a server answers.
 */
export function fetchKeySets(
  entries: readonly JwksEntry[],
  { allowHttp, allowPrivate = [], jwksSettingNames: settingNames }: TrustedKeysRules,
): Promise<FetchedKeySet[]> {
  const fetcher = new JwksFetcher({ allowHttp, allowPrivate, settingNames });
  return Promise.all(entries.map((entry) => fetchKeySet(entry, fetcher)));
}

async function fetchKeySet({ label, url }: JwksEntry, fetcher: JwksFetcher): Promise<FetchedKeySet> {
  const place = { entry: label, url: toJwksAddress(url).url };
  try {
    const { body, maxAgeSeconds = null } = await fetcher.fetch(url);
    const { keys, warnings: dropped } = readJwks(body);
    return { ...place, keys: keys.map(shownKey), dropped, maxAgeSeconds, failure: null };
  } catch (error) {
    if (!(error instanceof JwksFetchError || error instanceof JwksContentError)) throw error;
    return { ...place, keys: [], dropped: [], maxAgeSeconds: null, failure: error.message };
  }
}

function shownKey({ kid, algorithms }: JwksKey) {
  return { kid, algorithms: [...algorithms] };
}

/** Whether the entry would trust no key of the set. */
export function isUseless({ keys }: FetchedKeySet): boolean {
  return keys.length === 0;
}

export function fetchedInWords(set: FetchedKeySet): string {
  const { entry, url, keys, dropped, maxAgeSeconds, failure } = set;
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
