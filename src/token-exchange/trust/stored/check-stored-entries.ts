// Checks stored entries as they are read: by the rules of today, and beside the configured entries.
import { JsonError, parseStrictJson } from '../../../platform/json/strict-json.js';
import type { TrustedKeysRules } from '../entry-rules.js';
import type { TrustedKeyEntry } from '../trusted-key.js';
import type { CheckedStoredEntry, StoredEntry } from './stored-entry.js';
import { identityOfEntry, readStoredEntry, suspended } from './stored-entry.reader.js';

/** The rules for stored entries. */
export interface StoredEntriesRules {
  readonly configured: readonly TrustedKeyEntry[];
  readonly rules: TrustedKeysRules;
}

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
  for (const entry of configured)
    for (const identity of identitiesOf(entry))
      holders.set(identity, `the configured entry ${JSON.stringify(entry.label)}`);
  return stored.map((one) => {
    const checked = check(one, rules);
    if (checked.entry === undefined) return checked;
    const problems = overlaps(checked.entry, holders);
    if (problems.length > 0) return { stored: one, problems };
    for (const identity of identitiesOf(checked.entry))
      holders.set(identity, `the stored entry ${JSON.stringify(one.name)}`);
    return checked;
  });
}

function check(stored: StoredEntry, rules: TrustedKeysRules): CheckedStoredEntry {
  const { entry, problems } = readStoredEntry(parse(stored.text), rules);
  if (entry === undefined) return { stored, problems };
  return { stored, entry: stored.suspendedAt === undefined ? entry : suspended(entry), problems };
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

function overlaps(entry: TrustedKeyEntry, holders: ReadonlyMap<string, string>): string[] {
  return identitiesOf(entry).flatMap((identity) => {
    const holder = holders.get(identity);
    return holder === undefined ? [] : [`the entry: has the same ${shared(identity, entry)} as ${holder}`];
  });
}

/** What an entry shares with no other: what it answers for, and how metrics call it. */
function identitiesOf(entry: TrustedKeyEntry): string[] {
  return [identityOfEntry(entry), labelIdentity(entry)];
}

function labelIdentity({ label }: TrustedKeyEntry): string {
  return JSON.stringify(['label', label]);
}

function shared(identity: string, entry: TrustedKeyEntry): string {
  if (identity === labelIdentity(entry)) return 'name in logs and metrics';
  return entry.type === 'jwks' ? 'url' : 'issuer and kid';
}
