// Reads stored entries by the rules of the configured ones, by the few that only stored ones have, and beside all other entries.
import { JsonError, isJsonObject, parseStrictJson } from '../../../platform/json/strict-json.js';
import type { Findings } from '../entry-members.js';
import { readEntry } from '../entry-reader.js';
import type { TrustedKeysRules } from '../entry-rules.js';
import type { TrustedKeyEntry } from '../trusted-key.js';
import type { EntryIdentity } from '../trusted-key-entry.js';
import { identitiesOf } from '../trusted-key-entry.js';
import type { CheckedStoredEntry, StoredEntry } from './stored-entry.js';

/** The rules for stored entries. */
export interface StoredEntriesRules {
  readonly configured: readonly TrustedKeyEntry[];
  readonly rules: TrustedKeysRules;
}

/** Far above the largest key with the longest lists that are of use. */
const MAX_ENTRY_BYTES = 64 * 1024;
const MAX_NAME_CHARACTERS = 64;
/** Control characters, format characters and line ends: a name is typed, and shown in tables. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u;

/**
 * Checks all stored entries together. A newer version, or the strict policy, may refuse what was taken once; and a
 * configuration may have come to hold what was stored before.
 * @rule D70 Of entries that would answer for the same token the configured one counts, then the one that was stored first.
 * @param stored in the order in which they were added
 */
export function checkStoredEntries(
  stored: readonly StoredEntry[],
  { configured, rules }: StoredEntriesRules,
): CheckedStoredEntry[] {
  const holders = new Map<string, string>();
  const hold = (entry: TrustedKeyEntry, holder: string) => {
    for (const { identity } of allIdentitiesOf(entry)) holders.set(identity, holder);
  };
  for (const entry of configured) hold(entry, `the configured entry ${JSON.stringify(entry.label)}`);
  return stored.map((one) => {
    const { entry: read, problems, ...findings } = readStoredEntry(parse(one.text), rules);
    const entry = one.isOwners || read === undefined ? read : ofAdministrator(read, rules, problems);
    if (entry === undefined) return { stored: one, problems, ...findings };
    const shared = allIdentitiesOf(entry).find(({ identity }) => holders.has(identity));
    if (shared !== undefined) {
      const problem = `the entry: has the same ${shared.what} as ${holders.get(shared.identity)}`;
      return { stored: one, problems: [problem], ...findings };
    }
    hold(entry, `the stored entry ${JSON.stringify(one.name)}`);
    return { stored: one, entry, problems, ...findings };
  });
}

/**
 * Checks an entry that stands alone (D70), in the words in which configured ones are checked; without the entry if it has a problem.
 * @param rules of the configured entries: strict ones leave nothing that those of stored entries would have to add
 */
export function readStoredEntry(
  value: unknown,
  rules: TrustedKeysRules,
): Omit<CheckedStoredEntry, 'stored' | 'problems'> & Findings {
  const findings: Findings = { problems: [], warnings: [], notes: [] };
  const defaults = rules.defaults === 'strict' ? 'strict' : 'stored';
  const entry = readEntry(undefined, value, { ...rules, defaults }, findings);
  if (isJsonObject(value)) refuseUnfit(value, findings.problems);
  return { ...findings, entry: findings.problems.length > 0 ? undefined : entry };
}

/** Adds a problem if the entry could make administrators (D144). An entry that lists no roles may assign all others. */
function ofAdministrator(
  entry: TrustedKeyEntry,
  { assignableRoles, privilegedRoles = assignableRoles }: TrustedKeysRules,
  problems: string[],
): TrustedKeyEntry | undefined {
  const listed = [...(entry.allowedRoles ?? [])].filter((role) => privilegedRoles.includes(role));
  if (listed.length > 0) {
    problems.push(`allowedRoles: only the owner stores an entry that assigns ${listed.join(', ')}`);
    return undefined;
  }
  const others = assignableRoles.filter((role) => !privilegedRoles.includes(role));
  const limits = { byAdministrator: true, allowedRoles: entry.allowedRoles ?? new Set(others) };
  if (entry.type === 'jwks') return { ...entry, ...limits };
  const { key } = entry;
  return { ...entry, ...limits, key: { ...key, policy: { ...key.policy, ...limits } } };
}

/** The name of an entry that is fit to be stored; else the empty one. */
export function nameOf(value: unknown): string {
  const name = isJsonObject(value) ? value['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

/** A text that cannot be parsed is reported as no object. */
function parse(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return undefined;
  }
}

/** What an entry shares with no other: what it answers for, and how metrics call it. */
function allIdentitiesOf(entry: TrustedKeyEntry): EntryIdentity[] {
  const { type, issuer, label } = entry;
  return [
    ...identitiesOf({ type, issuer, ...(type === 'jwks' ? { url: entry.url } : { kid: entry.key.kid }) }),
    { identity: JSON.stringify({ label }), what: 'name in logs and metrics' },
  ];
}

function refuseUnfit(value: Record<string, unknown>, problems: string[]): void {
  const name = nameOf(value);
  if (value['name'] === undefined) problems.push('name: is required of a stored entry');
  else if (UNPRINTABLE.test(name) || name.trim() !== name || [...name].length > MAX_NAME_CHARACTERS)
    problems.push(`name: must be a printable text of at most ${MAX_NAME_CHARACTERS} characters`);
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_ENTRY_BYTES)
    problems.push(`the entry: must have at most ${MAX_ENTRY_BYTES / 1024} KiB`);
}
