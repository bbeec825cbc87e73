// Reads a stored entry by the rules of the configured ones, and by the few that only stored ones have.
import type { TrustedKeysReading } from '../trusted-key-entry.js';
import { identityOf } from '../trusted-key-entry.js';
import type { TrustedKeysRules } from '../entry-rules.js';
import { readEntry } from '../entry-reader.js';
import type { TrustedKeyEntry } from '../trusted-key.js';
import { isJsonObject } from '../../../platform/json/strict-json.js';
import { labelOf } from './stored-entry.js';

/** Far above the largest key with the longest lists that are of use. */
const MAX_ENTRY_BYTES = 64 * 1024;
const MAX_NAME_CHARACTERS = 64;
/** Control characters, format characters and line ends: a name is typed, and shown in tables. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u;

/** The result of reading; without the entry if it has a problem. */
export type StoredEntryReading = Omit<TrustedKeysReading, 'entries'> & { readonly entry?: TrustedKeyEntry };

/**
 * Checks an entry that stands alone (D70), in the words in which configured ones are checked.
 * @param rules of the configured entries
 */
export function readStoredEntry(value: unknown, rules: TrustedKeysRules): StoredEntryReading {
  const reading: TrustedKeysReading = { entries: [], problems: [], warnings: [], notes: [] };
  const read = readEntry(undefined, value, storedRules(rules), reading);
  if (isJsonObject(value)) refuseUnfit(value, reading.problems);
  const { problems, warnings, notes } = reading;
  const entry =
    read !== undefined && problems.length === 0
      ? withPolicy(read, { label: labelOf(nameOf(value)) })
      : undefined;
  return { entry, problems, warnings, notes };
}

/** The name of an entry that is fit to be stored; else the empty one. */
export function nameOf(value: unknown): string {
  const name = isJsonObject(value) ? value['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

/** The identity of an entry as given, which must be unique; undefined if it is too broken. */
export function identityOfValue(value: unknown): string | undefined {
  const raw = isJsonObject(value) ? value : {};
  const { identity } = identityOf(raw);
  return identity === undefined ? undefined : JSON.stringify([raw['type'], identity]);
}

/** The same of an entry that was read. */
export function identityOfEntry(entry: TrustedKeyEntry): string {
  const { type, issuer } = entry;
  const raw = type === 'jwks' ? { type, url: entry.url } : { type, issuer, kid: entry.key.kid };
  return identityOfValue(raw) ?? '';
}

/** The same entry, of which no token is accepted. */
export function suspended(entry: TrustedKeyEntry): TrustedKeyEntry {
  return withPolicy(entry, { isSuspended: true });
}

/** Strict rules leave nothing that those of stored entries would have to add. */
function storedRules(rules: TrustedKeysRules): TrustedKeysRules {
  return { ...rules, defaults: rules.defaults === 'strict' ? 'strict' : 'stored' };
}

function refuseUnfit(value: Record<string, unknown>, problems: string[]): void {
  const name = nameOf(value);
  if (value['name'] === undefined) problems.push('name: is required of a stored entry');
  else if (UNPRINTABLE.test(name) || name.trim() !== name || [...name].length > MAX_NAME_CHARACTERS)
    problems.push(`name: must be a printable text of at most ${MAX_NAME_CHARACTERS} characters`);
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_ENTRY_BYTES)
    problems.push(`the entry: must have at most ${MAX_ENTRY_BYTES / 1024} KiB`);
}

/** The policy stands in the entry, and in its key where that is there already. */
function withPolicy<Entry extends TrustedKeyEntry>(
  entry: Entry,
  change: Partial<Pick<Entry, 'label' | 'isSuspended'>>,
): TrustedKeyEntry {
  if (entry.type === 'jwks') return { ...entry, ...change };
  const { key } = entry;
  return { ...entry, ...change, key: { ...key, policy: { ...key.policy, ...change } } };
}
