// A trusted key entry that a command, or a host's own code, has made: how it is kept, shown, and why it may not be changed.
import { isJsonObject } from '../../../platform/json/strict-json.js';
import { toJwksAddress } from '../jwks/jwks-snapshot.repository.js';
import type { TrustedKeyEntry } from '../trusted-key.js';
import { parsedUrl } from '../../../platform/text/url.js';

/** An entry as it was given. */
export type EntryValue = Readonly<Record<string, unknown>>;

/** An entry as the table has it. */
export interface StoredEntry {
  /** Unique among stored entries. */
  readonly name: string;
  /** The entry as JSON text, by the rules of the configuration. */
  readonly text: string;
  /** Whether the owner, or somebody who may as much, set its members: a command, or a host's own code. */
  readonly isOwners: boolean;
  readonly createdAt: Date;
  readonly changedAt: Date;
  /** Another one after each change. */
  readonly revision: string;
}

/** A stored entry, and what the rules of today say of it. */
export interface CheckedStoredEntry {
  readonly stored: StoredEntry;
  /** Undefined where it has a problem: it takes no tokens then. */
  readonly entry?: TrustedKeyEntry;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
}

/** A change of stored entries that cannot be made, by something that its author can mend. Holds no value of the entry. */
export class StoredEntryError extends Error {
  /** @param problems each of what is wrong with the entry, with its member */
  constructor(
    message: string,
    readonly problems: readonly string[] = [],
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** Empty where another version has stored what this one cannot read. */
export function valueOf({ text }: Pick<StoredEntry, 'text'>): EntryValue {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** An entry as people and programs may be shown it: without the query of a URL, which may hold a secret. */
export function shownEntry(stored: StoredEntry): EntryValue {
  const value = valueOf(stored);
  const { url } = value;
  if (typeof url !== 'string' || parsedUrl(url) === undefined) return value;
  return { ...value, url: toJwksAddress(url).url };
}

/** Of a `StoredEntriesRules`. */
export const STORED_ENTRIES_RULES = Symbol('STORED_ENTRIES_RULES');
