// Stores, shows, changes, suspends, resumes and removes trusted key entries.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { storableString } from '../../platform/input/schemas.js';
import type {
  AuditContext,
  EntryValue,
  StoredEntryChange,
  StoredEntryWork,
  TrustedKeyEntry,
} from '../../token-exchange/instance.js';
import {
  policyInWords,
  shownEntry,
  StoredEntryChanges,
  StoredEntryError,
} from '../../token-exchange/instance.js';
import { OWNER_ROLE } from '../../users/role.js';
import { UserRepository } from '../../users/user.repository.js';
import { CommandError } from '../command-error.js';
import type { Changed, ChangeWork } from '../operation.js';
import { Change, inputOf, Read } from '../operation.js';
import { isAdministrator, OwnerProtection, refuseLogoutChange } from '../users/owner-protection.js';

/** The stored entry to work on. */
const CHOSEN_ENTRY = { name: storableString() };
const readChosenEntry = inputOf(CHOSEN_ENTRY);
type ChosenEntry = ReturnType<typeof readChosenEntry>;

const readNewEntry = inputOf({
  /** The entry as in the configuration, with a name. It is checked when it is stored. */
  entry: z.unknown(),
  /** The name of an entry with a static key. It supplies the properties that `entry` lacks. */
  like: storableString().optional(),
});

/** A stored entry, and the revision that a change of the whole entry must name. */
export interface ShownEntry {
  /** The stored entry: public keys, hashes of secrets, and a URL without its query. */
  readonly definition: EntryValue;
  /** Changes with each change of the entry. */
  readonly revision: string;
}

/** The complete new entry, and the revision that the operator edited. */
const readPolicy = inputOf({ ...CHOSEN_ENTRY, entry: z.unknown(), revision: storableString() });

/** The result of a change of a stored entry. */
export interface ChangedEntry {
  readonly name: string;
  /** False if the entry already was as requested. */
  readonly changed: boolean;
  readonly warnings: readonly string[];
  /** Phrases that say what its tokens may do; empty if it accepts none. */
  readonly policy: readonly string[];
}

/** @param work the transaction and audit context of the change */
export type EntryChange = (entries: StoredEntryChanges, work: StoredEntryWork) => Promise<StoredEntryChange>;

@Injectable()
export class EntryOperations {
  constructor(
    private readonly entries: StoredEntryChanges,
    private readonly users: UserRepository,
    private readonly owner: OwnerProtection,
  ) {}

  @Change('keys add', readNewEntry)
  add({ entry, like }: ReturnType<typeof readNewEntry>, work: ChangeWork) {
    return this.trust(work, (entries, by) => entries.add(entry, by, like), true);
  }

  @Read('keys show', readChosenEntry)
  async show({ name }: ChosenEntry): Promise<ShownEntry> {
    const stored = await refusing(() => this.entries.show(name));
    return { definition: shownEntry(stored), revision: stored.revision };
  }

  @Change('keys policy', readPolicy)
  changePolicy({ name, entry, revision }: ReturnType<typeof readPolicy>, work: ChangeWork) {
    return this.trust(work, (entries, by) => entries.change(name, () => entry, by, revision));
  }

  /** Every operator may suspend and remove, because both only reduce trust. */
  @Change('keys suspend', readChosenEntry)
  suspend({ name }: ChosenEntry, work: ChangeWork) {
    return this.changed(work, (entries, by) =>
      entries.change(name, (entry) => ({ ...entry, suspended: true }), by),
    );
  }

  @Change('keys resume', readChosenEntry)
  resume({ name }: ChosenEntry, work: ChangeWork) {
    return this.trust(work, (entries, by) => entries.change(name, ({ suspended: _, ...entry }) => entry, by));
  }

  @Change('keys remove', readChosenEntry)
  remove({ name }: ChosenEntry, work: ChangeWork) {
    return this.changed(work, (entries, by) => entries.remove(name, by));
  }

  /** @throws CommandError with every problem if the change is refused */
  async changed(work: ChangeWork, change: EntryChange): Promise<Changed<ChangedEntry>> {
    return changedBy(await this.made(work, change), work.context);
  }

  /**
   * Like `changed`, for a change that adds trust (D121).
   * @param isAdded whether the change adds an entry
   * @throws CommandError also if the operator may not add this trust
   */
  async trust(work: ChangeWork, change: EntryChange, isAdded = false): Promise<Changed<ChangedEntry>> {
    const changed = await this.made(work, change);
    const { entry } = changed;
    if (entry === undefined)
      throw new CommandError(
        'The entry has a problem, so its tokens are refused. `svc-admin keys list` shows the problem.',
      );
    if (changed.sharesLogouts === true) refuseLogoutChange(work);
    await this.owner.refuseTrustChange(entry.issuer, work, isAdded);
    await this.refuseNamedUser(entry, work);
    return changedBy(changed, work.context);
  }

  private made(work: ChangeWork, change: EntryChange): Promise<StoredEntryChange> {
    const { transaction, context, operator } = work;
    const by = { transaction, context, isOwners: !isAdministrator(operator) };
    return refusing(() => change(this.entries, by));
  }

  /**
   * Refuses an entry whose `signInAs` is unknown or the owner, because the service would refuse each of its tokens.
   * @throws CommandError
   */
  private async refuseNamedUser({ signInAs }: TrustedKeyEntry, { transaction }: ChangeWork): Promise<void> {
    if (signInAs === undefined) return;
    const user = await this.users.findById(signInAs, transaction);
    if (user === undefined)
      throw new CommandError('signInAs: no user has this id. `svc-admin users list` shows the ids.');
    if (user.role === OWNER_ROLE)
      throw new CommandError('signInAs: this user is the owner, and no entry may sign in as the owner.');
  }
}

function changedBy(
  { name, entry, warnings, events }: StoredEntryChange,
  context: AuditContext,
): Changed<ChangedEntry> {
  const policy = entry === undefined ? [] : policyInWords(entry, context.occurredAt);
  const result = { name, changed: events.length > 0, warnings, policy };
  return { result, targets: { entry: name }, events };
}

async function refusing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoredEntryError) throw new CommandError(error.message, error.problems);
    throw error;
  }
}
