// Suspends a stored trusted key entry, resumes it, or takes it away.
import type { StoredEntryChange, StoredEntryChanges, StoredEntryWork } from '../token-exchange/instance.js';
import type { ChangedEntry, ChosenEntry } from './entry-change.js';
import { changeEntry, trustEntry } from './entry-change.js';
import { readMembers, storableText } from './input.js';
import type { ChangeOperation } from './operation.js';

export const SUSPEND_ENTRY = switching('keys suspend', (entries, name, work) => entries.suspend(name, work));
export const RESUME_ENTRY = switching(
  'keys resume',
  (entries, name, work) => entries.resume(name, work),
  trustEntry,
);
export const REMOVE_ENTRY = switching('keys remove', (entries, name, work) => entries.remove(name, work));

function switching(
  operation: string,
  change: (entries: StoredEntryChanges, name: string, work: StoredEntryWork) => Promise<StoredEntryChange>,
  /** Suspending and removing are open to every operator: they take trust away. */
  by: typeof trustEntry = changeEntry,
): ChangeOperation<ChosenEntry, ChangedEntry> {
  return {
    name: operation,
    read: (input) => readMembers<ChosenEntry>(input, { name: storableText }),
    change: ({ name }, work) => by(work, (entries) => change(entries, name, work)),
  };
}
