// Reads the list of trusted keys. Checks every entry, and that no two entries conflict. Reports all problems at once.
import {
  explainJsonError,
  isJsonObject,
  JsonError,
  parseStrictJson,
} from '../../platform/json/strict-json.js';
import { withoutMark } from '../../platform/text/encoding.js';
import { areTooManyOrigins, MAX_ORIGINS_CHARACTERS } from '../../platform/text/origin.js';
import { parsedUrl } from '../../platform/text/url.js';
import type { Findings } from './entry-kinds.js';
import { readEntry } from './entry-reader.js';
import type { PolicyDefaults, TrustedKeysRules } from './entry-rules.js';
import type { TrustedKeyEntry } from './trusted-key.js';
import { contradicting } from './trusted-key.js';

/** The result of reading: the entries without a problem, in their order. */
export interface TrustedKeysReading extends Findings {
  readonly entries: TrustedKeyEntry[];
}

interface Read {
  readonly defaults: PolicyDefaults;
  readonly given: unknown;
}

/** The source of every entry that was read here. It distinguishes them from objects of the same shape. */
const read = new WeakMap<object, Read>();

/** Whether `readTrustedKeys` has created all entries of a list. */
export function isRead(list: string | readonly object[]): list is readonly TrustedKeyEntry[] {
  return typeof list !== 'string' && list.every((entry) => read.has(entry));
}

/** The configured value of an entry; undefined if `readTrustedKeys` has not created the entry. */
export function givenEntry(entry: TrustedKeyEntry): Readonly<Record<string, unknown>> | undefined {
  const given = read.get(entry)?.given;
  return isJsonObject(given) ? given : undefined;
}

/** Whether the entries were read with the defaults of the strict policy. */
export function areStrict(entries: readonly TrustedKeyEntry[]): boolean {
  return entries.every((entry) => read.get(entry)?.defaults === 'strict');
}

/**
 * Reads the JSON text of the trusted keys. Each problem has entry, property and rule, but never the value (D32).
 */
export function readTrustedKeys(text: string, rules: TrustedKeysRules): TrustedKeysReading {
  const reading: TrustedKeysReading = { entries: [], problems: [], warnings: [] };
  const list = parseList(text, reading.problems);
  for (const [index, value] of list.entries()) {
    const entry = readEntry(index, value, rules, reading);
    if (entry === undefined) continue;
    read.set(entry, { defaults: rules.defaults ?? 'contract', given: value });
    reading.entries.push(entry);
  }
  reportDuplicates(list, reading.problems);
  reportSeats(reading);
  reportManyOrigins(reading);
  if (list.length === 0 && reading.problems.length === 0)
    reading.warnings.push('is empty: every token is refused');
  return reading;
}

function parseList(text: string, problems: string[]): unknown[] {
  try {
    const list = parseStrictJson(withoutMark(text));
    if (Array.isArray(list)) return list;
    problems.push('must be a JSON array of entries');
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    problems.push(explainJsonError(error, text));
  }
  return [];
}

/** Reports entries that match the same tokens, because it would be unclear which entry decides. */
function reportDuplicates(list: readonly unknown[], problems: string[]): void {
  const seen = new Map<string, number>();
  for (const [index, value] of list.entries()) {
    const identities = identitiesOf(isJsonObject(value) ? value : {});
    const shared = identities.find(({ identity }) => seen.has(identity));
    if (shared !== undefined)
      problems.push(`entry ${index}: has the same ${shared.what} as entry ${seen.get(shared.identity)}`);
    else for (const { identity } of identities) seen.set(identity, index);
  }
}

function reportSeats({ entries, problems }: TrustedKeysReading): void {
  for (const [index, entry] of entries.entries()) {
    const other = contradicting(entry, entries.slice(0, index));
    if (other !== undefined)
      problems.push(`entry ${entry.entryIndex}, ${seatsRule(`entry ${other.entryIndex}`)}`);
  }
}

/** @param other an entry of the issuer with another number of seats */
export function seatsRule(other: string): string {
  return `maxUsers: must be as in ${other}, which has the same issuer, or left out in one of them`;
}

/** Reports the first entry whose origins exceed the limit. */
function reportManyOrigins({ entries, problems }: TrustedKeysReading): void {
  const origins = new Set<string>();
  for (const entry of entries) {
    for (const origin of entry.origins ?? []) origins.add(origin);
    if (!areTooManyOrigins(origins, 'entries')) continue;
    const rule = `must have at most ${MAX_ORIGINS_CHARACTERS.entries} characters with those of the entries before it`;
    problems.push(`entry ${entry.entryIndex}, origins: ${rule}, because every response has them in a header`);
    return;
  }
}

/** What two entries must not share. */
export interface EntryIdentity {
  readonly identity: string;
  readonly what: string;
}

/** Returns no identity if the entry lacks the properties. */
export function identitiesOf({ type, issuer, kid, url }: Record<string, unknown>): EntryIdentity[] {
  if (type === 'jwks') return typeof url === 'string' ? identitiesOfKeySet(issuer, url) : [];
  const isPair = typeof issuer === 'string' && typeof kid === 'string';
  return isPair ? [{ identity: JSON.stringify([issuer, kid]), what: 'issuer and kid' }] : [];
}

/**
 * Two addresses are the same if only the fragment differs, which is not sent, or an empty query. For one issuer they are also the
 * same if only the query differs, because most servers ignore it. Otherwise two entries could have the same keys, and one of them
 * would never be used.
 */
function identitiesOfKeySet(issuer: unknown, url: string): EntryIdentity[] {
  const parsed = parsedUrl(url);
  if (parsed === undefined) return [];
  const { origin, pathname, search } = parsed;
  return [
    { identity: JSON.stringify([origin + pathname + search]), what: 'url' },
    {
      identity: JSON.stringify({ issuer, address: origin + pathname }),
      what: 'issuer and url (apart from the query)',
    },
  ];
}
