// Stores a trusted key entry.
import type { ChangedEntry } from './entry-change.js';
import { trustEntry } from './entry-change.js';
import { readMembers } from './input.js';
import type { ChangeOperation } from './operation.js';

export interface NewEntry {
  /** As it would stand in the configuration, with a name; checked when it is stored. */
  readonly entry: unknown;
}

export const ADD_ENTRY: ChangeOperation<NewEntry, ChangedEntry> = {
  name: 'keys add',
  read: (input) => readMembers<NewEntry>(input, { entry: (value) => ({ value }) }),
  change: ({ entry }, work) => trustEntry(work, (entries) => entries.add(entry, work), true),
};
