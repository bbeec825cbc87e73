// Stores trusted key entries, shows them, changes how far they are trusted, switches them, and takes them away.
import type {
  EntryValue,
  StoredEntryChange,
  StoredEntryChanges,
  StoredEntryWork,
  AuditContext,
  TrustedKeyEntry,
} from '../token-exchange/instance.js';
import { shownEntry, StoredEntryError, policyInWords } from '../token-exchange/instance.js';
import { OWNER_ROLE } from '../users/role.js';
import { CommandError } from './command-error.js';
import { anything, members, optional, storableText } from './input.js';
import type { Changed, ChangeWork, OperationCommand } from './operation.js';
import { changeOperation, listOperation } from './operation.js';
import { isAdministrator, refuseLogoutChange, refuseTrustChange } from './owner-protection.js';
import { findingLines, printable, quoted } from './table.js';

/** Which stored entry it is about. */
const CHOSEN_ENTRY = { name: storableText };
const readChosenEntry = members(CHOSEN_ENTRY);
const ENTRY = {
  name: ['<name>', 'the stored entry, as `keys list` prints it or without `stored:`'],
} as const;

const readNewEntry = members({
  /** As it would stand in the configuration, with a name; checked when it is stored. */
  entry: anything,
  /** An entry with a static key, by its name: what `entry` does not say is as in it. */
  like: optional(storableText),
});

export const ADD_ENTRY = changeOperation('keys add', readNewEntry, {
  change: ({ entry, like }, work) => trustEntry(work, (entries, by) => entries.add(entry, by, like), true),

  command: {
    about: 'store a trusted key entry; every instance trusts it within 10 seconds, without a restart',
    example: '--file entry.json\n  svc-admin keys add --like acme --key new.pub.pem --kid 2027-01',
    text: (changed) => changeText(changed, 'is stored, and trusted everywhere within 10 seconds'),
  },
});

function changeText(changed: ChangedEntry, outcome: string): string {
  const { name, policy } = changed;
  const done = `The entry ${quoted(name)} ${outcome}: ${printable(policy.join('; '))}.\n`;
  return [...findingLines(changed), done].join('');
}

/** What a change of a whole entry begins with. */
export interface ShownEntry {
  /** As it was given: public keys, hashes of secrets, and a URL without its query. */
  readonly definition: EntryValue;
  /** Another one after each change. */
  readonly revision: string;
}

export const SHOW_ENTRY = listOperation('keys show', readChosenEntry, {
  async *list({ name }, { storedEntries }) {
    const stored = await refusing(() => storedEntries.show(name));
    yield [{ definition: shownEntry(stored), revision: stored.revision } satisfies ShownEntry];
  },

  command: {
    about: 'print a stored entry as JSON, as `keys policy --file` takes it; secrets are hashes',
    takes: ENTRY,
    example: 'acme > acme.json',
    text: ([shown]) => `${JSON.stringify(shown?.definition, null, 2)}\n`,
    json: ([shown]) => shown,
  },
});

/** The whole entry as it is to be, in place of one that its author has seen. */
const readPolicy = members({ ...CHOSEN_ENTRY, entry: anything, revision: storableText });

export const CHANGE_ENTRY_POLICY = changeOperation('keys policy', readPolicy, {
  change: ({ name, entry, revision }, work) =>
    trustEntry(work, (entries, by) => entries.change(name, () => entry, by, revision)),

  command: {
    about: 'change the policy of a stored entry',
    takes: ENTRY,
    example: 'acme --set \'allowedRoles=["global:member"]\' --unset notAfter',
    text: (changed) =>
      changeText(
        changed,
        changed.changed ? 'is changed, everywhere within 10 seconds' : 'had this policy already',
      ),
  },
});

/** Suspending and removing are open to every operator: they take trust away. */
export const SUSPEND_ENTRY = changeOperation('keys suspend', readChosenEntry, {
  change: ({ name }, work) =>
    changeEntry(work, (entries, by) => entries.change(name, (entry) => ({ ...entry, suspended: true }), by)),

  command: switching(
    'refuse tokens of a stored entry until it is resumed; issued access tokens and sessions stay valid',
    'is suspended',
    'was suspended already',
  ),
});

export const RESUME_ENTRY = changeOperation('keys resume', readChosenEntry, {
  change: ({ name }, work) =>
    trustEntry(work, (entries, by) => entries.change(name, ({ suspended: _, ...entry }) => entry, by)),

  command: switching('accept tokens of a suspended entry again', 'is trusted again', 'was not suspended'),
});

export const REMOVE_ENTRY = changeOperation('keys remove', readChosenEntry, {
  change: ({ name }, work) => changeEntry(work, (entries, by) => entries.remove(name, by)),

  command: switching('remove a stored entry; issued access tokens and sessions stay valid', 'is removed'),
});

/**
 * @param outcome said of the entry, afterwards
 * @param already said where nothing was changed
 */
function switching(
  about: string,
  outcome: string,
  already = outcome,
): OperationCommand<{ name: string }, ChangedEntry> {
  return {
    about,
    takes: ENTRY,
    example: 'acme',
    text: ({ changed }, { name }) =>
      `The entry ${quoted(name)} ${changed ? `${outcome}, everywhere within 10 seconds` : already}.\n`,
    json: ({ changed }, { name }) => ({ name, changed }),
  };
}

/** The outcome for a stored entry. */
export interface ChangedEntry {
  readonly name: string;
  /** Whether anything was changed; else all was as asked for already. */
  readonly changed: boolean;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  /** What its tokens may do, in phrases; empty if it takes none. */
  readonly policy: readonly string[];
}

/** @throws CommandError with every problem, where the change cannot be made */
export async function changeEntry(work: ChangeWork, change: EntryChange): Promise<Changed<ChangedEntry>> {
  return changedBy(await made(work, change), work.context);
}

/** @param by in whose name it is made */
export type EntryChange = (entries: StoredEntryChanges, by: StoredEntryWork) => Promise<StoredEntryChange>;

function made(work: ChangeWork, change: EntryChange): Promise<StoredEntryChange> {
  const { parts, transaction, context, operator } = work;
  const by = { transaction, context, isOwners: !isAdministrator(operator) };
  return refusing(() => change(parts.storedEntries, by));
}

/**
 * As `changeEntry`, for what gives trust, rather than taking it away (D121).
 * @param isAdded the change adds an entry
 * @throws CommandError also for an operator who may not trust it
 */
export async function trustEntry(
  work: ChangeWork,
  change: EntryChange,
  isAdded = false,
): Promise<Changed<ChangedEntry>> {
  const changed = await made(work, change);
  const { entry } = changed;
  if (entry === undefined) throw new CommandError('The entry has a problem, and no token of it is accepted.');
  if (changed.sharesLogouts === true) refuseLogoutChange(work);
  await refuseTrustChange(entry.issuer, work, isAdded);
  await refuseNamedUser(entry, work);
  return changedBy(changed, work.context);
}

/** At every use the service refuses a user who is not there or is the owner. @throws CommandError */
async function refuseNamedUser(
  { signInAs }: TrustedKeyEntry,
  { parts, transaction }: ChangeWork,
): Promise<void> {
  if (signInAs === undefined) return;
  const user = await parts.users.findById(signInAs, transaction);
  if (user === undefined) throw new CommandError('signInAs: no user has this id: `svc-admin users list`.');
  if (user.role === OWNER_ROLE)
    throw new CommandError('signInAs: this user is the owner, and no entry may sign in as the owner.');
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
