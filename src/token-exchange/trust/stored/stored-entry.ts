// A trusted key entry that a command, or a host's own code, has made: how it is kept, and how it may not be changed.
import type { TrustedKeyEntry } from '../trusted-key.js';

/** An entry as the table has it. */
export interface StoredEntry {
  /** Unique among stored entries. */
  readonly name: string;
  /** The entry as JSON text, by the rules of the configuration. */
  readonly text: string;
  /** Since when none of its tokens is taken; undefined: they are. */
  readonly suspendedAt: Date | undefined;
  readonly createdAt: Date;
  readonly changedAt: Date;
}

/** A stored entry, and what the rules of today say of it. */
export interface CheckedStoredEntry {
  readonly stored: StoredEntry;
  /** Undefined where it has a problem: it takes no tokens then. */
  readonly entry?: TrustedKeyEntry;
  readonly problems: readonly string[];
}

/** A change of stored entries that cannot be made, by something that its author can mend. Holds no value of the entry. */
export class StoredEntryError extends Error {
  /** @param problems each of what is wrong with the entry, with its member */
  constructor(
    message: string,
    readonly problems: readonly string[] = [],
  ) {
    super(message);
    this.name = 'StoredEntryError';
  }
}

/** How logs and metrics call a stored entry, so that it is not taken for a configured one of the same name. */
export function labelOf(name: string): string {
  return `stored:${name}`;
}

/** Of a `StoredEntriesRules`. */
export const STORED_ENTRIES_RULES = Symbol('STORED_ENTRIES_RULES');
