// Changes stored entries, each in a transaction of its caller, and returns the audit events.
import { isDeepStrictEqual } from 'node:util';
import type { AuditContext, AuditEvent } from '../../audit/audit.bus.js';
import { auditEvent } from '../../audit/audit.bus.js';
import type { Transaction } from '../../../platform/database/transaction.js';
import { isJsonObject } from '../../../platform/json/strict-json.js';
import { MOST_ORIGINS_CHARACTERS, areTooManyOrigins } from '../../../platform/text/origin.js';
import { labelOf } from '../trusted-key.js';
import type { TrustedKeyEntry } from '../trusted-key.js';
import { givenEntry, identitiesOf } from '../trusted-key-entry.js';
import type { CheckedStoredEntry, EntryValue, StoredEntry } from './stored-entry.js';
import { StoredEntryError, shownEntry, valueOf } from './stored-entry.js';
import type { StoredEntriesRules } from './stored-entry.reader.js';
import { checkStoredEntries, nameOf } from './stored-entry.reader.js';
import type { StoredEntryRepository } from './stored-entry.repository.js';

/** Every instance holds all of them in memory. */
const MAX_ENTRIES = 1_000;

/** What an entry trusts, as against how far. Another key is another entry, which can be suspended by itself. */
const FIXED = ['type', 'name', 'issuer', 'kid', 'algorithms', 'key', 'url'];

const MANY_ORIGINS =
  `origins: must have at most ${MOST_ORIGINS_CHARACTERS.entries} characters with those of all other entries, ` +
  'since a header of every answer names them all';

/** What a change works with. */
export interface StoredEntryWork {
  readonly transaction: Transaction;
  readonly context: AuditContext;
  /** Whether the owner asks, or somebody who may as much. */
  readonly isOwners: boolean;
}

/** A change that was made. */
export interface StoredEntryChange {
  readonly name: string;
  /** As it is checked now; undefined where it was removed, or has a problem. */
  readonly entry?: TrustedKeyEntry;
  /** Whether it and another entry have to do with the logouts of one issuer, now or before. */
  readonly sharesLogouts?: boolean;
  /** What its author should know. */
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  /** For the trail, in the same transaction; none where all was as asked for already. */
  readonly events: readonly AuditEvent[];
}

/** @rule D73 Every change is in the trail with old and new. */
export class StoredEntryChanges {
  constructor(
    private readonly repository: StoredEntryRepository,
    private readonly rules: () => StoredEntriesRules,
  ) {}

  /**
   * @param like an entry with a static key, stored or configured, by its name: what is not given is as in it
   * @throws StoredEntryError where the entry has a problem, or another one its name, its key or its URL
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
    // Also one that takes no tokens today: it may take them tomorrow, by other rules, and would then go before this one.
    for (const { identity, what } of identitiesOf(valueOf(stored))) {
      const twin = all.find((one) => identitiesOf(valueOf(one)).some((other) => other.identity === identity));
      if (twin !== undefined)
        throw new StoredEntryError(
          `The entry has the same ${what} as the stored entry ${JSON.stringify(twin.name)}: remove that first.`,
        );
    }
    if (all.length >= MAX_ENTRIES)
      throw new StoredEntryError(`There are ${MAX_ENTRIES} stored entries already, which is the most.`);
    return this.store(undefined, stored, { all: [...all, stored], work });
  }

  /**
   * The owner answers for all members of an entry that the owner has seen whole, and not for those of others by adding a client, say.
   * @param edit makes the whole new entry of the present one
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
      throw new StoredEntryError(
        'The entry was changed meanwhile: look at it as it is now, and change that.',
      );
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

  /** Nothing that was issued ends by it. @throws StoredEntryError where there is no such entry */
  async remove(name: string, work: StoredEntryWork): Promise<StoredEntryChange> {
    const before = this.find(await this.repository.lockAll(work.transaction), name);
    await this.repository.remove(work.transaction, before.name);
    return { name: before.name, warnings: [], notes: [], events: [eventOf(before, undefined, work)] };
  }

  /** The findings about an entry if it were added now; nothing is stored. */
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

  /** Those that no change of these concerns. */
  get configured(): readonly TrustedKeyEntry[] {
    return this.rules().configured;
  }

  /**
   * Every entry of an issuer, configured or stored, suspended ones too; undefined for one that takes no tokens. Stored ones are
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

  /** All of them, checked. */
  async list(): Promise<CheckedStoredEntry[]> {
    return checkStoredEntries(await this.repository.all(), this.rules());
  }

  /** Stores what has no problem, also beside the other entries; and a suspension in any case, so that it is certain. */
  private async store(
    before: StoredEntry | undefined,
    stored: StoredEntry,
    { all, work }: { all: readonly StoredEntry[]; work: StoredEntryWork },
  ): Promise<StoredEntryChange> {
    const { name } = stored;
    if (before !== undefined) refuseOtherKey(valueOf(before), valueOf(stored));
    const { entry, problems, warnings, notes } = this.checked(stored, all, before);
    if (problems.length > 0 && !isStop(before, stored))
      throw new StoredEntryError('The entry has problems:', problems);
    const sharesLogouts = [before ?? [], stored].flat().some((one) => this.sharesLogouts(one, all));
    const outcome = { name, entry, warnings, notes, sharesLogouts };
    const isSame =
      before?.isOwners === stored.isOwners && isDeepStrictEqual(valueOf(before), valueOf(stored));
    if (isSame) return { ...outcome, events: [] };
    await this.repository.put(work.transaction, stored);
    return { ...outcome, events: [eventOf(before, stored, work)] };
  }

  /** One of them beside the others. */
  private checked(
    stored: StoredEntry,
    all: readonly StoredEntry[],
    before?: StoredEntry,
  ): CheckedStoredEntry {
    const checked = checkStoredEntries(all, this.rules()).find((one) => one.stored === stored);
    if (checked === undefined) throw new Error('an entry was not checked');
    const others = all.filter((one) => one !== stored);
    const configured = this.configured.flatMap(({ origins = [] }) => [...origins]);
    const known = new Set([...configured, ...[before ?? [], others].flat().flatMap(originsIn)]);
    // What adds none can be changed whatever the others name.
    const addsOne = originsIn(stored).some((origin) => !known.has(origin));
    if (!addsOne || !areTooManyOrigins([...configured, ...all.flatMap(originsIn)], 'entries')) return checked;
    return { ...checked, entry: undefined, problems: [...checked.problems, MANY_ORIGINS] };
  }

  /** Whether one of an entry and another, configured or stored, sends the logouts that the other sends, or those of its issuer. */
  private sharesLogouts(stored: StoredEntry, all: readonly StoredEntry[]): boolean {
    const value = valueOf(stored);
    const others = all.filter(({ name }) => name !== stored.name).map(valueOf);
    return [...this.configured, ...others].some((other) => sendsFor(value, other) || sendsFor(other, value));
  }

  /** @throws StoredEntryError for a name that no entry has */
  private modelOf(all: readonly StoredEntry[], name: string): { value: EntryValue; isOwners: boolean } {
    const stored = byName(all, name);
    if (stored !== undefined) return { value: valueOf(stored), isOwners: stored.isOwners };
    const configured = this.configured.find(({ label }) => label === name);
    const value = configured && givenEntry(configured);
    if (value === undefined) throw new StoredEntryError('There is no entry with this name.');
    return { value, isOwners: true };
  }

  /** @param name as it was given, or as logs and lists have it */
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

/** Whether all that a change may do is to suspend the entry, or to resume it. */
function isSwitch(before: EntryValue, after: EntryValue): boolean {
  return isDeepStrictEqual({ ...before, suspended: undefined }, { ...after, suspended: undefined });
}

function newEntry(value: unknown, now: Date, isOwners: boolean): StoredEntry {
  // The database gives it its first revision.
  return {
    name: nameOf(value),
    text: JSON.stringify(value ?? null),
    isOwners,
    createdAt: now,
    changedAt: now,
    revision: '',
  };
}

/** What another entry takes of one. @throws StoredEntryError */
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
  throw new StoredEntryError('What an entry trusts cannot be changed, only how far:', remedies);
}

/** Whether all that a change does is to suspend the entry. */
function isStop(before: StoredEntry | undefined, after: StoredEntry): boolean {
  return before !== undefined && isDeepStrictEqual({ ...valueOf(before), suspended: true }, valueOf(after));
}

/** Of an entry as it was given, or read. */
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

/** As they were given, also in an entry that has a problem today. */
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
