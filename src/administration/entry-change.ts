// Results and refusals of the operations on stored trusted key entries.
import type { StoredEntryChange, StoredEntryChanges } from '../token-exchange/instance.js';
import { StoredEntryError } from '../token-exchange/instance.js';
import type { AuditContext } from '../token-exchange/plain.js';
import { policyInWords } from '../token-exchange/plain.js';
import { CommandError } from './command-error.js';
import type { Changed, ChangeWork } from './operation.js';
import { refuseTrustChange } from './owner-protection.js';

/** Which stored entry it is about. */
export interface ChosenEntry {
  readonly name: string;
}

/** The outcome for a stored entry. */
export interface ChangedEntry extends ChosenEntry {
  /** Whether anything was changed; else all was as asked for already. */
  readonly changed: boolean;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  /** What its tokens may do, in phrases; empty if it takes none. */
  readonly policy: readonly string[];
}

/** @throws CommandError with every problem, where the change cannot be made */
export async function changeEntry(
  { parts, context }: Pick<ChangeWork, 'parts' | 'context'>,
  change: (entries: StoredEntryChanges) => Promise<StoredEntryChange>,
): Promise<Changed<ChangedEntry>> {
  return changedBy(await refusing(() => change(parts.storedEntries)), context);
}

/**
 * As `changeEntry`, for what gives trust, rather than taking it away (D121).
 * @param isAdded the change adds an entry
 * @throws CommandError also for an operator who may not trust it
 */
export async function trustEntry(
  work: ChangeWork,
  change: (entries: StoredEntryChanges) => Promise<StoredEntryChange>,
  isAdded = false,
): Promise<Changed<ChangedEntry>> {
  const made = await refusing(() => change(work.parts.storedEntries));
  if (made.entry === undefined) throw new CommandError('The entry takes no tokens.');
  await refuseTrustChange(made.entry.issuer, work, isAdded);
  return changedBy(made, work.context);
}

function changedBy(
  { name, entry, warnings, notes, events }: StoredEntryChange,
  context: AuditContext,
): Changed<ChangedEntry> {
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
