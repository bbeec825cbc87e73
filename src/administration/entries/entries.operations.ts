// Stores, shows, changes, suspends, resumes and removes trusted key entries.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '../../platform/clock.js';
import { storableString } from '../../platform/input/schemas.js';
import type {
  AuditContext,
  CheckedStoredEntry,
  EntryValue,
  StoredEntryChange,
  StoredEntryWork,
  TrustedKeyEntry,
  TrustRevocation,
} from '../../token-exchange/instance.js';
import {
  labelOf,
  policyInWords,
  RevocationRepository,
  shownEntry,
  stateOf,
  StoredEntryChanges,
  StoredEntryError,
  thumbprintOf,
  toJwksAddress,
} from '../../token-exchange/instance.js';
import { OWNER_ROLE } from '../../users/role.js';
import { UserRepository } from '../../users/user.repository.js';
import type { Changed, ChangeWork } from '../operation.js';
import { AdministrationSettings, Change, CommandError, inputOf, Read, readNothing } from '../operation.js';
import { isAdministrator, OwnerProtection, refuseLogoutChange } from '../users/owner-protection.js';

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

/** An entry's key with its thumbprint (RFC 7638), or the address of its key set without the query. */
type KeyPlace = { readonly kid: string; readonly thumbprint: string | null } | { readonly url: string };

export interface ListedEntry {
  readonly from: 'configuration' | 'command';
  /** The variable and the file that configure it; null if it is stored. */
  readonly configuredIn: string | null;
  /** Its name in logs and metrics. */
  readonly entry: string;
  /** The stored name; null if the entry is configured. Commands accept both this and `entry`. */
  readonly name: string | null;
  /** `refused` (it has problems), `revoked` (its key or issuer is) and `ended` (at `until`) entries accept no token. */
  readonly state: 'trusted' | 'suspended' | 'refused' | 'revoked' | 'ended';
  /** Its revocations. A key set has each revoked key of its issuer, even one that is not in the set. */
  readonly revoked: readonly RevokedKey[];
  /** This and the next two are null if it is refused. */
  readonly type: 'static' | 'jwks' | null;
  readonly issuer: string | null;
  readonly keys: KeyPlace | null;
  /** The expected `aud`; null if none is expected or it is refused. */
  readonly audience: string | null;
  /** The end of trust, ISO 8601. Null if the entry has no end, or is refused. */
  readonly until: string | null;
  /** Phrases that say what its tokens may do. */
  readonly policy: readonly string[];
  readonly problems: readonly string[];
  /** ISO 8601; null if it is configured. */
  readonly changedAt: string | null;
}

interface RevokedKey {
  /** Null means every key of the issuer. */
  readonly kid: string | null;
  /** ISO 8601. */
  readonly revokedAt: string;
}

@Injectable()
export class EntryListOperations {
  constructor(
    private readonly entries: StoredEntryChanges,
    private readonly revocations: RevocationRepository,
    private readonly settings: AdministrationSettings,
    private readonly clock: Clock,
  ) {}

  @Read('keys list', readNothing)
  async list(): Promise<readonly ListedEntry[]> {
    const now = this.clock.now();
    const { configuredIn } = this.settings;
    const stored = await this.entries.list();
    const holding = (await this.revocations.list()).filter(({ restoredAt }) => restoredAt === null);
    const configured = await configuredEntries(this.entries.configured, configuredIn, now);
    const entries = [...configured, ...(await Promise.all(stored.map((one) => storedEntry(one, now))))];
    return entries.map((entry) => withRevocations(entry, holding));
  }
}

/** The entries that accept tokens, configured ones first. */
export async function trustedEntries(entries: StoredEntryChanges): Promise<TrustedKeyEntry[]> {
  const stored = (await entries.list()).flatMap(({ entry }) => entry ?? []);
  return [...entries.configured, ...stored];
}

function withRevocations(entry: ListedEntry, holding: readonly TrustRevocation[]): ListedEntry {
  const { issuer, keys, state } = entry;
  const ownKid = keys !== null && 'kid' in keys ? keys.kid : undefined;
  const revoked = holding
    .filter((one) => one.issuer === issuer && [null, ownKid ?? one.kid].includes(one.kid))
    .map(({ kid, revokedAt }) => ({ kid, revokedAt: revokedAt.toISOString() }));
  const isWhole = revoked.some(({ kid }) => kid === null || kid === ownKid);
  const isRevoked = isWhole && (state === 'trusted' || state === 'ended');
  return { ...entry, revoked, state: isRevoked ? 'revoked' : state };
}

function stateAt(now: Date, state: 'trusted' | 'suspended' | 'refused', entry: TrustedKeyEntry | undefined) {
  const hasEnded = entry?.notAfter !== undefined && entry.notAfter <= now;
  return state === 'trusted' && hasEnded ? 'ended' : state;
}

/** Configured entries without their revocations. @param configuredIn the variable, and the file if there is one */
export function configuredEntries(
  entries: readonly TrustedKeyEntry[],
  configuredIn: string,
  now: Date,
): Promise<ListedEntry[]> {
  return Promise.all(
    entries.map(async (entry) => ({
      ...{ from: 'configuration' as const, configuredIn, entry: entry.label, name: null },
      state: stateAt(now, entry.suspended === true ? 'suspended' : 'trusted', entry),
      ...(await whatIsTrusted(entry, now)),
      ...{ revoked: [], problems: [], changedAt: null },
    })),
  );
}

async function storedEntry(checked: CheckedStoredEntry, now: Date): Promise<ListedEntry> {
  const { stored, entry, problems } = checked;
  const { name, changedAt } = stored;
  return {
    ...{ from: 'command', configuredIn: null, entry: labelOf(name), name },
    state: stateAt(now, stateOf(checked), entry),
    ...(await whatIsTrusted(entry, now)),
    ...{ revoked: [], problems, changedAt: changedAt.toISOString() },
  };
}

async function whatIsTrusted(
  entry: TrustedKeyEntry | undefined,
  now: Date,
): Promise<Pick<ListedEntry, 'type' | 'issuer' | 'keys' | 'audience' | 'until' | 'policy'>> {
  if (entry === undefined)
    return { type: null, issuer: null, keys: null, audience: null, until: null, policy: [] };
  const { type, issuer } = entry;
  const keys =
    type === 'jwks'
      ? { url: toJwksAddress(entry.url).url }
      : { kid: entry.key.kid, thumbprint: (await thumbprintOf(entry.key.publicKey)) ?? null };
  const audience = entry.expectedAudience ?? null;
  const until = entry.notAfter?.toISOString() ?? null;
  return { type, issuer, keys, audience, until, policy: policyInWords(entry, now) };
}
