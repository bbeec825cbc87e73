// Changes stored entries in the caller's transaction, and returns the audit events.
import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../../platform/database/transaction.js';
import { isJsonObject } from '../../../platform/json/strict-json.js';
import { areTooManyOrigins, MAX_ORIGINS_CHARACTERS } from '../../../platform/text/origin.js';
import type { AuditContext, AuditEvent } from '../../audit/audit-trail.js';
import { auditEvent } from '../../audit/audit-trail.js';
import type { TrustedKeyEntry } from '../trusted-key.js';
import { contradicting, labelOf } from '../trusted-key.js';
import { givenEntry, identitiesOf, seatsRule } from '../trusted-key-entry.js';
import type { CheckedStoredEntry, EntryValue, StoredEntriesRules, StoredEntry } from './stored-entry.js';
import { checkStoredEntries, nameOf, shownEntry, StoredEntryError, valueOf } from './stored-entry.js';
import type { StoredEntryRepository } from './stored-entry.repository.js';

/** Every instance holds all of them in memory. */
const MAX_ENTRIES = 1_000;

/** The properties that identify a key. Another key is another entry, which can be suspended alone. */
const FIXED = ['type', 'name', 'issuer', 'kid', 'algorithms', 'key', 'url'];

const MANY_ORIGINS =
  `origins: must have at most ${MAX_ORIGINS_CHARACTERS.entries} characters with those of all other entries, ` +
  'because every response has them in a header';

export interface StoredEntryWork {
  readonly transaction: Transaction;
  readonly context: AuditContext;
  /** Whether the owner, a command or host code makes the change. */
  readonly isOwners: boolean;
}

export interface StoredEntryChange {
  readonly name: string;
  /** The checked entry; undefined if it was removed, or has a problem. */
  readonly entry?: TrustedKeyEntry;
  /** Whether it affects another entry's logouts, now or before the change. */
  readonly sharesLogouts?: boolean;
  readonly warnings: readonly string[];
  /** Events for the same transaction; empty if nothing changed. */
  readonly events: readonly AuditEvent[];
}

/** @rule D73 Every change is in the trail with the old and the new entry. */
export class StoredEntryChanges {
  constructor(
    private readonly repository: StoredEntryRepository,
    private readonly rules: () => StoredEntriesRules,
  ) {}

  /**
   * @param like the name of an entry with a static key, whose properties are the defaults
   * @throws StoredEntryError if the entry has a problem, or another entry has its name, key or URL
   */
  async add(given: unknown, work: StoredEntryWork, like?: string): Promise<StoredEntryChange> {
    const all = await this.repository.lockAll(work.transaction);
    const model = like === undefined ? undefined : this.modelOf(all, like);
    const value = model && isJsonObject(given) ? { ...ofStaticKey(model.value), ...given } : given;
    const isOwners = work.isOwners && model?.isOwners !== false;
    const stored = newEntry(value, work.context.occurredAt, isOwners);
    if (all.some(({ name }) => name === stored.name))
      throw new StoredEntryError(
        `There is a stored entry with the name ${JSON.stringify(stored.name)} already.`,
      );
    // Also checks entries whose tokens are refused now: other rules may accept them later, and they would precede this one.
    for (const { identity, what } of identitiesOf(valueOf(stored))) {
      const twin = all.find((one) => identitiesOf(valueOf(one)).some((other) => other.identity === identity));
      if (twin !== undefined)
        throw new StoredEntryError(
          `The entry has the same ${what} as the stored entry ${JSON.stringify(twin.name)}: remove that first.`,
        );
    }
    if (all.length >= MAX_ENTRIES)
      throw new StoredEntryError(`There are already ${MAX_ENTRIES} stored entries, the maximum.`);
    return this.store(undefined, stored, { all: [...all, stored], work });
  }

  /**
   * An entry becomes the owner's only if the owner has seen it whole, and not by adding a client, for example.
   * @param edit returns the whole new entry for the present one
   * @param revision that the author of the change has seen; undefined: `edit` takes whatever it is
   * @throws StoredEntryError where it has another revision
   * @throws StoredEntryError where there is no such entry, or it would have a problem; and what `edit` throws
   */
  async change(
    name: string,
    edit: (entry: EntryValue) => unknown,
    work: StoredEntryWork,
    revision?: string,
  ): Promise<StoredEntryChange> {
    const all = await this.repository.lockAll(work.transaction);
    const before = this.find(all, name);
    if (revision !== undefined && revision !== before.revision)
      throw new StoredEntryError('The entry was changed meanwhile. Read it again, then change it.');
    const value = edit(valueOf(before));
    if (!isJsonObject(value))
      throw new StoredEntryError('The entry has problems:', ['the entry: must be an object']);
    const text = JSON.stringify(withUrlOf(before, value));
    const isOwners = work.isOwners
      ? before.isOwners || revision !== undefined
      : before.isOwners && isSwitch(valueOf(before), valueOf({ text }));
    const stored = { ...before, text, isOwners, changedAt: work.context.occurredAt };
    const others = all.map((one) => (one.name === before.name ? stored : one));
    return this.store(before, stored, { all: others, work });
  }

  /** Issued sessions and tokens stay valid. @throws StoredEntryError where there is no such entry */
  async remove(name: string, work: StoredEntryWork): Promise<StoredEntryChange> {
    const before = this.find(await this.repository.lockAll(work.transaction), name);
    await this.repository.remove(work.transaction, before.name);
    return { name: before.name, warnings: [], events: [eventOf(before, undefined, work)] };
  }

  /** The findings about an entry if it were added now. Stores nothing. */
  async check(value: unknown, now: Date): Promise<CheckedStoredEntry> {
    const stored = newEntry(value, now, true);
    const all = await this.repository.all();
    const checked = this.checked(stored, [...all, stored]);
    if (all.every(({ name }) => name !== stored.name)) return checked;
    return { ...checked, entry: undefined, problems: ['name: another stored entry has it'] };
  }

  /** @throws StoredEntryError where there is no such entry */
  async show(name: string): Promise<StoredEntry> {
    return this.find(await this.repository.all(), name);
  }

  /** The configured entries, which cannot be changed here. */
  get configured(): readonly TrustedKeyEntry[] {
    return this.rules().configured;
  }

  /**
   * Every entry of an issuer, configured or stored, including suspended ones; undefined for one with problems. Stored ones are
   * locked until the transaction ends.
   */
  async ofIssuer(issuer: string, transaction: Transaction): Promise<(TrustedKeyEntry | undefined)[]> {
    const all = await this.repository.lockAll(transaction);
    const stored = checkStoredEntries(all, this.rules()).filter(
      (one) => valueOf(one.stored)['issuer'] === issuer,
    );
    return [
      ...this.configured.filter((entry) => entry.issuer === issuer),
      ...stored.map(({ entry }) => entry),
    ];
  }

  async list(): Promise<CheckedStoredEntry[]> {
    return checkStoredEntries(await this.repository.all(), this.rules());
  }

  /** Stores an entry without problems, also with regard to the other entries. A suspension is stored in any case. */
  private async store(
    before: StoredEntry | undefined,
    stored: StoredEntry,
    { all, work }: { all: readonly StoredEntry[]; work: StoredEntryWork },
  ): Promise<StoredEntryChange> {
    const { name } = stored;
    if (before !== undefined) refuseOtherKey(valueOf(before), valueOf(stored));
    const { entry, problems, warnings } = this.checked(stored, all, before);
    if (problems.length > 0 && !isStop(before, stored))
      throw new StoredEntryError('The entry has problems:', problems);
    const sharesLogouts = [before ?? [], stored].flat().some((one) => this.sharesLogouts(one, all));
    const outcome = { name, entry, warnings, sharesLogouts };
    const isSame =
      before?.isOwners === stored.isOwners && isDeepStrictEqual(valueOf(before), valueOf(stored));
    if (isSame) return { ...outcome, events: [] };
    await this.repository.put(work.transaction, stored);
    return { ...outcome, events: [eventOf(before, stored, work)] };
  }

  private checked(
    stored: StoredEntry,
    all: readonly StoredEntry[],
    before?: StoredEntry,
  ): CheckedStoredEntry {
    const checked = checkStoredEntries(all, this.rules()).find((one) => one.stored === stored);
    if (checked === undefined) throw new Error('an entry was not checked');
    const others = all.filter((one) => one !== stored);
    // Also of a later entry, which would take no tokens from then on.
    const rival = contradicting(valueOf(stored), others.map(valueOf));
    if (checked.entry !== undefined && rival !== undefined)
      return {
        ...checked,
        entry: undefined,
        problems: [seatsRule(`the entry ${JSON.stringify(labelOf(nameOf(rival)))}`)],
      };
    const configured = this.configured.flatMap(({ origins = [] }) => [...origins]);
    const known = new Set([...configured, ...[before ?? [], others].flat().flatMap(originsIn)]);
    // A change that adds no origin is allowed whatever the other entries have.
    const addsOne = originsIn(stored).some((origin) => !known.has(origin));
    if (!addsOne || !areTooManyOrigins([...configured, ...all.flatMap(originsIn)], 'entries')) return checked;
    return { ...checked, entry: undefined, problems: [...checked.problems, MANY_ORIGINS] };
  }

  /** Whether an entry and another share a sender of logouts. */
  private sharesLogouts(stored: StoredEntry, all: readonly StoredEntry[]): boolean {
    const value = valueOf(stored);
    const others = all.filter(({ name }) => name !== stored.name).map(valueOf);
    return [...this.configured, ...others].some((other) => sendsFor(value, other) || sendsFor(other, value));
  }

  /** @throws StoredEntryError for an unknown name */
  private modelOf(all: readonly StoredEntry[], name: string): { value: EntryValue; isOwners: boolean } {
    const stored = byName(all, name);
    if (stored !== undefined) return { value: valueOf(stored), isOwners: stored.isOwners };
    const configured = this.configured.find(({ label }) => label === name);
    const value = configured && givenEntry(configured);
    if (value === undefined) throw new StoredEntryError('There is no entry with this name.');
    return { value, isOwners: true };
  }

  /** @param name as given, or as logs and lists show it */
  private find(all: readonly StoredEntry[], name: string): StoredEntry {
    const found = byName(all, name);
    if (found !== undefined) return found;
    const isConfigured = this.configured.some(({ label }) => label === name);
    throw new StoredEntryError(
      isConfigured
        ? 'The entry with this name is configured, not stored: change the configuration, and restart.'
        : 'There is no stored entry with this name.',
    );
  }
}

function byName(all: readonly StoredEntry[], name: string): StoredEntry | undefined {
  return all.find((one) => one.name === name) ?? all.find((one) => labelOf(one.name) === name);
}

function isSwitch(before: EntryValue, after: EntryValue): boolean {
  return isDeepStrictEqual({ ...before, suspended: undefined }, { ...after, suspended: undefined });
}

function newEntry(value: unknown, now: Date, isOwners: boolean): StoredEntry {
  // The database sets the first revision.
  return {
    name: nameOf(value),
    text: JSON.stringify(value ?? null),
    isOwners,
    createdAt: now,
    changedAt: now,
    revision: '',
  };
}

/** The properties that a new entry copies. @throws StoredEntryError */
function ofStaticKey({ suspended: _, ...value }: EntryValue): EntryValue {
  if (value['type'] === 'static') return value;
  throw new StoredEntryError('The entry has a key set: its partner publishes the new key there.');
}

/** The query of a URL is not shown, so an author who sends the entry back does not know it. */
function withUrlOf(before: StoredEntry, entry: EntryValue): EntryValue {
  const isAsShown = entry['url'] === shownEntry(before)['url'];
  return isAsShown ? { ...entry, url: valueOf(before)['url'] } : entry;
}

/** @throws StoredEntryError */
function refuseOtherKey(before: EntryValue, after: EntryValue): void {
  const other = FIXED.filter((member) => !isDeepStrictEqual(before[member], after[member]));
  if (other.length === 0) return;
  const remedies = other.map((member) => `${member}: add another entry, and remove this one`);
  throw new StoredEntryError('Only the policy of an entry can be changed:', remedies);
}

function isStop(before: StoredEntry | undefined, after: StoredEntry): boolean {
  return before !== undefined && isDeepStrictEqual({ ...valueOf(before), suspended: true }, valueOf(after));
}

/** The logout properties of an entry, given or read. */
interface LogoutMembers {
  readonly issuer?: unknown;
  readonly logoutIssuer?: unknown;
}

function sendsFor({ logoutIssuer }: LogoutMembers, other: LogoutMembers): boolean {
  return logoutIssuer !== undefined && [other.issuer, other.logoutIssuer].includes(logoutIssuer);
}

function eventOf(
  before: StoredEntry | undefined,
  after: StoredEntry | undefined,
  { context }: StoredEntryWork,
): AuditEvent {
  const [from, to] = [before && shownEntry(before), after && shownEntry(after)];
  const { issuer } = to ?? from ?? {};
  return auditEvent('svc.audit.token-exchange.stored-entry-changed', context, {
    entry: after?.name ?? before?.name ?? '',
    change: kindOf(from, to),
    ...(typeof issuer === 'string' && { issuer }),
    ...(from && { from }),
    ...(to && { to }),
  });
}

/** The given origins, even if the entry has a problem. */
function originsIn(stored: StoredEntry): string[] {
  const { origins } = valueOf(stored);
  return Array.isArray(origins) ? origins.filter((origin) => typeof origin === 'string') : [];
}

function kindOf(from: EntryValue | undefined, to: EntryValue | undefined) {
  if (from === undefined) return 'added';
  if (to === undefined) return 'removed';
  const [was, is] = [from, to].map(({ suspended }) => suspended === true);
  if (was === is) return 'policy-changed';
  return is ? 'suspended' : 'resumed';
}
