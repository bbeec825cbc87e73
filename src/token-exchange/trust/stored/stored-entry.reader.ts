// Reads stored entries by the rules of configured ones, by their own rules, and against all other entries.
import { JsonError, isJsonObject, parseStrictJson } from '../../../platform/json/strict-json.js';
import type { Findings } from '../entry-members.js';
import { readEntry } from '../entry-reader.js';
import type { TrustedKeysRules } from '../entry-rules.js';
import type { TrustedKeyEntry } from '../trusted-key.js';
import { contradicting } from '../trusted-key.js';
import type { EntryIdentity } from '../trusted-key-entry.js';
import { identitiesOf, seatsRule } from '../trusted-key-entry.js';
import type { CheckedStoredEntry, StoredEntry } from './stored-entry.js';

/** The rules for stored entries. */
export interface StoredEntriesRules {
  readonly configured: readonly TrustedKeyEntry[];
  readonly rules: TrustedKeysRules;
}

/** Far above the largest useful entry. */
const MAX_ENTRY_BYTES = 64 * 1024;
const MAX_NAME_CHARACTERS = 64;
/** Control characters, format characters and line ends, because a name is typed and shown in tables. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u;

/**
 * Checks all stored entries together. A newer version or the strict policy may refuse an entry that was accepted before, and a
 * configured entry may now conflict with it.
 * @rule D70 Of entries for the same tokens the configured one applies, then the one that was stored first.
 * @param stored in the order in which they were added
 */
export function checkStoredEntries(
  stored: readonly StoredEntry[],
  { configured, rules }: StoredEntriesRules,
): CheckedStoredEntry[] {
  const holders = new Map<string, string>();
  const held: TrustedKeyEntry[] = [];
  const hold = (entry: TrustedKeyEntry, holder: string) => {
    held.push(entry);
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
    const rival = contradicting(entry, held);
    if (rival !== undefined)
      return { stored: one, problems: [seatsRule(`the entry ${JSON.stringify(rival.label)}`)], ...findings };
    hold(entry, `the stored entry ${JSON.stringify(one.name)}`);
    return { stored: one, entry, problems, ...findings };
  });
}

/**
 * Checks a single entry by the rules of configured ones (D70). The result has no entry if there is a problem.
 * @param rules the rules of configured entries; strict ones already include the rules of stored entries
 */
export function readStoredEntry(
  value: unknown,
  rules: TrustedKeysRules,
): Omit<CheckedStoredEntry, 'stored' | 'problems'> & Findings {
  const findings: Findings = { problems: [], warnings: [] };
  const defaults = rules.defaults === 'strict' ? 'strict' : 'stored';
  const entry = readEntry(undefined, value, { ...rules, defaults }, findings);
  if (isJsonObject(value)) refuseUnfit(value, findings.problems);
  return { ...findings, entry: findings.problems.length > 0 ? undefined : entry };
}

/** Adds a problem if the entry could create administrators (D144). An entry that lists no roles may assign all others. */
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

/** The name of a storable entry, otherwise an empty string. */
export function nameOf(value: unknown): string {
  const name = isJsonObject(value) ? value['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

/** A string that cannot be parsed is reported as no object. */
function parse(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return undefined;
  }
}

/** What an entry must not share with another: its tokens, and its name in metrics. */
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
