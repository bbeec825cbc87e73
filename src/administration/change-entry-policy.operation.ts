// Changes how far a stored trusted key entry is trusted.
import { isJsonObject } from '../platform/json/strict-json.js';
import type { ChangedEntry, ChosenEntry } from './entry-change.js';
import { trustEntry } from './entry-change.js';
import type { Read } from './input.js';
import { readMembers, storableText } from './input.js';
import type { ChangeOperation } from './operation.js';

export interface EntryPolicy extends ChosenEntry {
  /** The values of members that are to be set. */
  readonly set: Readonly<Record<string, unknown>>;
  /** Members that are to be taken away. */
  readonly unset: readonly string[];
  /** The whole entry as it is to be, in place of both; left out: it stays but for these. */
  readonly entry?: unknown;
}

export const CHANGE_ENTRY_POLICY: ChangeOperation<EntryPolicy, ChangedEntry> = {
  name: 'keys policy',

  read: (input) =>
    readMembers<EntryPolicy>(input, {
      name: storableText,
      set: members,
      unset: names,
      entry: (value) => ({ value }),
    }),

  change({ name, set, unset, entry }, work) {
    const change = entry === undefined ? { set, unset } : { entry };
    return trustEntry(work, (entries) => entries.changePolicy(name, change, work));
  },
};

function members(value: unknown): Read<Readonly<Record<string, unknown>>> {
  return isJsonObject(value) ? { value } : { rule: 'must be an object' };
}

function names(value: unknown): Read<readonly string[]> {
  const isList = Array.isArray(value) && value.every((name) => typeof name === 'string');
  return isList ? { value: value } : { rule: 'must be a list of names' };
}
