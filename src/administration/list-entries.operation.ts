// Lists all trusted key entries, configured and stored, with what each allows.
import type { CheckedStoredEntry } from '../token-exchange/instance.js';
import { labelOf, toJwksAddress } from '../token-exchange/instance.js';
import type { TrustedKeyEntry } from '../token-exchange/plain.js';
import { policyInWords, thumbprintOf } from '../token-exchange/plain.js';
import { readNothing } from './input.js';
import type { ListOperation } from './operation.js';

const PAGE_SIZE = 100;

/** Where its keys are: one with its thumbprint (RFC 7638), or an address. An address is shown without its query; its hash is that of the stored key set. */
type KeyPlace =
  | { readonly kid: string; readonly thumbprint: string | null }
  | { readonly url: string; readonly urlHash: string };

export interface ListedEntry {
  readonly from: 'configuration' | 'command';
  /** The variable, and the file, in which it is configured; null where it is stored. */
  readonly configuredIn: string | null;
  /** How logs and metrics call it. */
  readonly entry: string;
  /** As it was given; null where the entry is configured. Commands take both this and `entry`. */
  readonly name: string | null;
  /** `refused`: it takes no tokens, since it has problems. */
  readonly state: 'trusted' | 'suspended' | 'refused';
  /** The next three are null where it is refused. */
  readonly type: 'static' | 'jwks' | null;
  readonly issuer: string | null;
  readonly keys: KeyPlace | null;
  /** The `aud` that it expects; null where it expects none, or is refused. */
  readonly audience: string | null;
  /** What its tokens may do, in phrases. */
  readonly policy: readonly string[];
  readonly problems: readonly string[];
  /** ISO 8601; null where it is configured. */
  readonly changedAt: string | null;
}

export const LIST_ENTRIES: ListOperation<Record<string, never>, ListedEntry> = {
  name: 'keys list',
  read: readNothing,

  async *list(_input, { storedEntries, configuredIn }) {
    const stored = await storedEntries.list();
    const configured = storedEntries.configured.map((entry) => configuredEntry(entry, configuredIn));
    const all = await Promise.all([...configured, ...stored.map(storedEntry)]);
    for (let start = 0; start < all.length; start += PAGE_SIZE) yield all.slice(start, start + PAGE_SIZE);
  },
};

async function configuredEntry(entry: TrustedKeyEntry, configuredIn: string): Promise<ListedEntry> {
  const { label } = entry;
  return {
    ...{ from: 'configuration', configuredIn, entry: label, name: null, state: 'trusted' },
    ...(await whatIsTrusted(entry)),
    ...{ problems: [], changedAt: null },
  };
}

async function storedEntry({ stored, entry, problems }: CheckedStoredEntry): Promise<ListedEntry> {
  const { name, suspendedAt, changedAt } = stored;
  const state = entry === undefined ? 'refused' : suspendedAt === undefined ? 'trusted' : 'suspended';
  return {
    ...{ from: 'command', configuredIn: null, entry: labelOf(name), name, state },
    ...(await whatIsTrusted(entry)),
    ...{ problems, changedAt: changedAt.toISOString() },
  };
}

async function whatIsTrusted(
  entry: TrustedKeyEntry | undefined,
): Promise<Pick<ListedEntry, 'type' | 'issuer' | 'keys' | 'audience' | 'policy'>> {
  if (entry === undefined) return { type: null, issuer: null, keys: null, audience: null, policy: [] };
  const { type, issuer } = entry;
  const keys =
    type === 'jwks'
      ? toJwksAddress(entry.url)
      : { kid: entry.key.kid, thumbprint: (await thumbprintOf(entry.key.publicKey)) ?? null };
  const audience = entry.expectedAudience ?? null;
  return { type, issuer, keys, audience, policy: policyInWords(entry, new Date()) };
}
