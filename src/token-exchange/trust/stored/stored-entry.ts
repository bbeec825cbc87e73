// A trusted key entry in the database: how it is stored and shown, how it is read by the rules of configured ones and against all
// other entries, and why a change is refused.
import { isJsonObject, JsonError, parseStrictJson } from '../../../platform/json/strict-json.js';
import { parsedUrl } from '../../../platform/text/url.js';
import type { Findings } from '../entry-kinds.js';
import { readEntry } from '../entry-reader.js';
import type { TrustedKeysRules } from '../entry-rules.js';
import { toJwksAddress } from '../jwks/jwks-snapshot.repository.js';
import type { TrustedKeyEntry } from '../trusted-key.js';
import { contradicting } from '../trusted-key.js';
import type { EntryIdentity } from '../trusted-key-entry.js';
import { identitiesOf, seatsRule } from '../trusted-key-entry.js';

/** An entry as it was given. */
export type EntryValue = Readonly<Record<string, unknown>>;

export interface StoredEntry {
  /** Unique among stored entries. */
  readonly name: string;
  /** The entry as JSON text, by the rules of the configuration. */
  readonly text: string;
  /** Whether the owner, a command or a host's own code set its properties. */
  readonly isOwners: boolean;
  readonly createdAt: Date;
  readonly changedAt: Date;
  /** Another one after each change. */
  readonly revision: string;
}

/** A stored entry, checked by the present rules. */
export interface CheckedStoredEntry {
  readonly stored: StoredEntry;
  /** Undefined if it has a problem: its tokens are refused then. */
  readonly entry?: TrustedKeyEntry;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** A refused change of stored entries, which its author can correct. Contains no value of the entry. */
export class StoredEntryError extends Error {
  /** @param problems what is wrong with the entry, by property */
  constructor(
    message: string,
    readonly problems: readonly string[] = [],
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** Empty if this version cannot read it. */
export function valueOf({ text }: Pick<StoredEntry, 'text'>): EntryValue {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** An entry that people and programs may see: without the query of a URL, which may contain a secret. */
export function shownEntry(stored: StoredEntry): EntryValue {
  const value = valueOf(stored);
  const { url } = value;
  if (typeof url !== 'string' || parsedUrl(url) === undefined) return value;
  return { ...value, url: toJwksAddress(url).url };
}

export const STORED_ENTRIES_RULES = Symbol('STORED_ENTRIES_RULES');

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
