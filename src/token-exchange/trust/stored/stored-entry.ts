// A trusted key entry in the database: how it is stored and shown, and why a change is refused.
import { isJsonObject } from '../../../platform/json/strict-json.js';
import { toJwksAddress } from '../jwks/jwks-snapshot.repository.js';
import type { TrustedKeyEntry } from '../trusted-key.js';
import { parsedUrl } from '../../../platform/text/url.js';

/** An entry as it was given. */
export type EntryValue = Readonly<Record<string, unknown>>;

/** An entry in the table. */
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

/** Injection token of a `StoredEntriesRules`. */
export const STORED_ENTRIES_RULES = Symbol('STORED_ENTRIES_RULES');
