// Stores trusted key entries, changes how far they are trusted, switches them, takes them away, and lists all, configured and stored.
import type {
  CheckedStoredEntry,
  EntryValue,
  StoredEntryChange,
  StoredEntryChanges,
  StoredEntryWork,
  TrustRevocation,
} from '../token-exchange/instance.js';
import { labelOf, shownEntry, stateOf, StoredEntryError, toJwksAddress } from '../token-exchange/instance.js';
import type { AuditContext, TrustedKeyEntry } from '../token-exchange/plain.js';
import { policyInWords, thumbprintOf } from '../token-exchange/plain.js';
import { OWNER_ROLE } from '../users/role.js';
import { CommandError } from './command-error.js';
import { anything, members, optional, readNothing, storableText } from './input.js';
import type { Changed, ChangeWork } from './operation.js';
import { changeOperation, listOperation } from './operation.js';
import { isAdministrator, refuseLogoutChange, refuseTrustChange } from './owner-protection.js';

const PAGE_SIZE = 100;

/** Which stored entry it is about. */
const CHOSEN_ENTRY = { name: storableText };
export const readChosenEntry = members(CHOSEN_ENTRY);

/** Where its keys are: one with its thumbprint (RFC 7638), or an address. An address is shown without its query; its hash is that of the stored key set. */
type KeyPlace =
  | { readonly kid: string; readonly thumbprint: string | null }
  | { readonly url: string; readonly urlHash: string };

export interface ListedEntry {
  readonly from: 'configuration' | 'command';
  /** The variable, and the file, in which it is configured; null where it is stored. */
  readonly configuredIn: string | null;
  /** How logs and metrics call it. */
  readonly entry: string;
  /** As it was given; null where the entry is configured. Commands take both this and `entry`. */
  readonly name: string | null;
  /** `refused`: it takes no tokens, since it has problems. `revoked`: none, since its key or its issuer is. `ended`: none since `until`. */
  readonly state: 'trusted' | 'suspended' | 'refused' | 'revoked' | 'ended';
  /** What holds of it; of a key set each revoked key of the issuer, held or not. */
  readonly revoked: readonly RevokedKey[];
  /** The next three are null where it is refused. */
  readonly type: 'static' | 'jwks' | null;
  readonly issuer: string | null;
  readonly keys: KeyPlace | null;
  /** The `aud` that it expects; null where it expects none, or is refused. */
  readonly audience: string | null;
  /** When trust in it ends or has ended, ISO 8601; null where it does not, or the entry is refused. */
  readonly until: string | null;
  /** What its tokens may do, in phrases. */
  readonly policy: readonly string[];
  readonly problems: readonly string[];
  /** ISO 8601; null where it is configured. */
  readonly changedAt: string | null;
}

interface RevokedKey {
  /** Null: every key of the issuer. */
  readonly kid: string | null;
  /** ISO 8601. */
  readonly revokedAt: string;
}

type UnrevokedEntry = Omit<ListedEntry, 'revoked'>;

export const LIST_ENTRIES = listOperation('keys list', readNothing, {
  async *list(_input, { storedEntries, configuredIn, revocations }) {
    const stored = await storedEntries.list();
    const holding = (await revocations.list()).filter(({ restoredAt }) => restoredAt === null);
    const configured = storedEntries.configured.map((entry) => configuredEntry(entry, configuredIn));
    const entries = await Promise.all([...configured, ...stored.map(storedEntry)]);
    const all = entries.map((entry) => withRevocations(entry, holding));
    for (let start = 0; start < all.length; start += PAGE_SIZE) yield all.slice(start, start + PAGE_SIZE);
  },
});

function withRevocations(entry: UnrevokedEntry, holding: readonly TrustRevocation[]): ListedEntry {
  const { issuer, keys } = entry;
  const ownKid = keys !== null && 'kid' in keys ? keys.kid : undefined;
  const revoked = holding
    .filter((one) => one.issuer === issuer && [null, ownKid ?? one.kid].includes(one.kid))
    .map(({ kid, revokedAt }) => ({ kid, revokedAt: revokedAt.toISOString() }));
  const isWhole = revoked.some(({ kid }) => kid === null || kid === ownKid);
  if (entry.state !== 'trusted') return { ...entry, revoked };
  const hasEnded = entry.until !== null && Date.parse(entry.until) <= Date.now();
  return { ...entry, revoked, state: isWhole ? 'revoked' : hasEnded ? 'ended' : 'trusted' };
}

async function configuredEntry(entry: TrustedKeyEntry, configuredIn: string): Promise<UnrevokedEntry> {
  const { label } = entry;
  return {
    ...{ from: 'configuration', configuredIn, entry: label, name: null },
    state: entry.suspended === true ? 'suspended' : 'trusted',
    ...(await whatIsTrusted(entry)),
    ...{ problems: [], changedAt: null },
  };
}

async function storedEntry(checked: CheckedStoredEntry): Promise<UnrevokedEntry> {
  const { stored, entry, problems } = checked;
  const { name, changedAt } = stored;
  return {
    ...{ from: 'command', configuredIn: null, entry: labelOf(name), name, state: stateOf(checked) },
    ...(await whatIsTrusted(entry)),
    ...{ problems, changedAt: changedAt.toISOString() },
  };
}

async function whatIsTrusted(
  entry: TrustedKeyEntry | undefined,
): Promise<Pick<ListedEntry, 'type' | 'issuer' | 'keys' | 'audience' | 'until' | 'policy'>> {
  if (entry === undefined)
    return { type: null, issuer: null, keys: null, audience: null, until: null, policy: [] };
  const { type, issuer } = entry;
  const keys =
    type === 'jwks'
      ? toJwksAddress(entry.url)
      : { kid: entry.key.kid, thumbprint: (await thumbprintOf(entry.key.publicKey)) ?? null };
  const audience = entry.expectedAudience ?? null;
  const until = entry.notAfter?.toISOString() ?? null;
  return { type, issuer, keys, audience, until, policy: policyInWords(entry, new Date()) };
}

const readNewEntry = members({
  /** As it would stand in the configuration, with a name; checked when it is stored. */
  entry: anything,
  /** A stored entry with a static key, by its name: what `entry` does not say is as in it. */
  like: optional(storableText),
});

export const ADD_ENTRY = changeOperation('keys add', readNewEntry, {
  change: ({ entry, like }, work) => trustEntry(work, (entries, by) => entries.add(entry, by, like), true),
});

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
});

/** The whole entry as it is to be, in place of one that its author has seen. */
const readPolicy = members({ ...CHOSEN_ENTRY, entry: anything, revision: storableText });

export const CHANGE_ENTRY_POLICY = changeOperation('keys policy', readPolicy, {
  change: ({ name, entry, revision }, work) =>
    trustEntry(work, (entries, by) => entries.change(name, () => entry, by, revision)),
});

/** Suspending and removing are open to every operator: they take trust away. */
export const SUSPEND_ENTRY = changeOperation('keys suspend', readChosenEntry, {
  change: ({ name }, work) =>
    changeEntry(work, (entries, by) => entries.change(name, (entry) => ({ ...entry, suspended: true }), by)),
});

export const RESUME_ENTRY = changeOperation('keys resume', readChosenEntry, {
  change: ({ name }, work) =>
    trustEntry(work, (entries, by) => entries.change(name, ({ suspended: _, ...entry }) => entry, by)),
});

export const REMOVE_ENTRY = changeOperation('keys remove', readChosenEntry, {
  change: ({ name }, work) => changeEntry(work, (entries, by) => entries.remove(name, by)),
});

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
type EntryChange = (entries: StoredEntryChanges, by: StoredEntryWork) => Promise<StoredEntryChange>;

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
  if (entry === undefined) throw new CommandError('The entry takes no tokens.');
  if (changed.sharesLogouts === true) refuseLogoutChange(work);
  await refuseTrustChange(entry.issuer, work, isAdded);
  await refuseNamedUser(entry, work);
  return changedBy(changed, work.context);
}

/** One who is not there, or is the owner, would be refused at every use. @throws CommandError */
async function refuseNamedUser(
  { signInAs }: TrustedKeyEntry,
  { parts, transaction }: ChangeWork,
): Promise<void> {
  if (signInAs === undefined) return;
  const user = await parts.users.findById(signInAs, transaction);
  if (user === undefined) throw new CommandError('signInAs: no user has this id: `svc-admin users list`.');
  if (user.role === OWNER_ROLE) throw new CommandError('signInAs: is the owner, as whom no entry signs in.');
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
