// What the operations on stored trusted key entries have in common: how a change is told, and how a refusal is.
import { policyInWords } from '../token-exchange/keys/policy-words.js';
import { StoredEntryError } from '../token-exchange/keys/stored/stored-entry.js';
import type {
  StoredEntryChange,
  StoredEntryChanges,
} from '../token-exchange/keys/stored/stored-entry.changes.js';
import { CommandError } from './command-error.js';
import type { Changed, ChangeWork } from './operation.js';

/** Which stored entry it is about. */
export interface ChosenEntry {
  readonly name: string;
}

/** What has become of a stored entry. */
export interface ChangedEntry extends ChosenEntry {
  /** Whether anything was changed; else all was as asked for already. */
  readonly changed: boolean;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  /** What its tokens may do, a phrase for each thing; empty where it takes none. */
  readonly policy: readonly string[];
}

/** @throws CommandError with every problem, where the change cannot be made */
export async function changeEntry(
  { parts, context }: ChangeWork,
  change: (entries: StoredEntryChanges) => Promise<StoredEntryChange>,
): Promise<Changed<ChangedEntry>> {
  const { name, entry, warnings, notes, events } = await refusing(() => change(parts.storedEntries));
  const policy = entry === undefined ? [] : policyInWords(entry, context.occurredAt);
  const result = { name, changed: events.length > 0, warnings, notes, policy };
  return { result, things: { entry: name }, events };
}

async function refusing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoredEntryError) throw new CommandError(error.message, error.problems);
    throw error;
  }
}
