// Changes stored entries, each in a transaction of its caller, and returns the audit events.
import { isDeepStrictEqual } from 'node:util';
import type { AuditContext, AuditEvent } from '../../audit/audit-event.js';
import type { StoredEntryRecord } from '../../audit/event-catalogue.js';
import { auditEvent } from '../../audit/audit-event.js';
import type { Transaction } from '../../../platform/database/transaction.js';
import { isJsonObject } from '../../../platform/json/strict-json.js';
import type { TrustedKeyEntry } from '../trusted-key.js';
import { toJwksAddress } from '../jwks/jwks-snapshot.repository.js';
import type { StoredEntriesRules } from './check-stored-entries.js';
import { checkStoredEntries } from './check-stored-entries.js';
import type { CheckedStoredEntry, StoredEntry } from './stored-entry.js';
import { StoredEntryError, labelOf } from './stored-entry.js';
import type { StoredEntryReading } from './stored-entry.reader.js';
import { identityOfValue, nameOf, readStoredEntry } from './stored-entry.reader.js';
import type { StoredEntryRepository } from './stored-entry.repository.js';

/** Every instance holds all of them in memory. */
const MAX_ENTRIES = 1_000;

/** What an entry trusts, as against how far. Another key is another entry, which can be suspended by itself. */
const FIXED = ['type', 'name', 'issuer', 'kid', 'algorithms', 'key', 'url'];

/** The change of an entry's members: some set and some removed, or all as in another entry. */
export type PolicyChange =
  | { readonly set: Readonly<Record<string, unknown>>; readonly unset: readonly string[] }
  | { readonly entry: unknown };

/** What a change works with. */
export interface StoredEntryWork {
  readonly transaction: Transaction;
  readonly context: AuditContext;
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

/** Of an entry as it was given, or read. */
interface LogoutMembers {
  readonly issuer?: unknown;
  readonly logoutIssuer?: unknown;
}

type Kind = 'added' | 'policy-changed' | 'suspended' | 'resumed' | 'removed';

/** @rule D73 Every change is in the trail with old and new. */
export class StoredEntryChanges {
  constructor(
    private readonly repository: StoredEntryRepository,
    private readonly rules: StoredEntriesRules,
  ) {}

  /** @throws StoredEntryError where the entry has a problem, or another one its name, its key or its URL */
  async add(value: unknown, work: StoredEntryWork): Promise<StoredEntryChange> {
    const { problems } = readStoredEntry(value, this.rules.rules);
    if (problems.length > 0) throw new StoredEntryError('The entry has problems:', problems);
    const all = await this.repository.lockAll(work.transaction);
    const name = nameOf(value);
    if (all.some((one) => one.name === name))
      throw new StoredEntryError(`There is a stored entry with the name ${JSON.stringify(name)} already.`);
    this.refuseSleepingTwin(value, all);
    if (all.length >= MAX_ENTRIES)
      throw new StoredEntryError(`There are ${MAX_ENTRIES} stored entries already, which is the most.`);
    const now = work.context.occurredAt;
    const stored = {
      name,
      text: JSON.stringify(value),
      suspendedAt: undefined,
      createdAt: now,
      changedAt: now,
    };
    return this.put('added', undefined, stored, { all: [...all, stored], work });
  }

  /** One that takes no tokens today may take them tomorrow, by other rules, and would then go before this one. */
  private refuseSleepingTwin(value: unknown, all: readonly StoredEntry[]): void {
    const sleeping = checkStoredEntries(all, this.rules).filter(({ entry }) => entry === undefined);
    const identity = identityOfValue(value);
    const twin = sleeping.find(({ stored }) => identityOfValue(valueOf(stored)) === identity);
    if (twin === undefined) return;
    const name = JSON.stringify(twin.stored.name);
    throw new StoredEntryError(
      `The stored entry ${name}, which takes no tokens at present, is for the same key or URL: remove it first.`,
    );
  }

  /** @throws StoredEntryError where there is no such entry, or it would have a problem */
  async changePolicy(name: string, change: PolicyChange, work: StoredEntryWork): Promise<StoredEntryChange> {
    const all = await this.repository.lockAll(work.transaction);
    const before = this.find(all, name);
    const old = valueOf(before);
    const value = changed(old, change);
    const fixed = FIXED.filter((member) => !isDeepStrictEqual(old[member], value[member]));
    if (fixed.length > 0)
      throw new StoredEntryError(
        'What an entry trusts cannot be changed, only how far:',
        fixed.map((member) => `${member}: add another entry, and remove this one`),
      );
    const { problems } = readStoredEntry(value, this.rules.rules);
    if (problems.length > 0) throw new StoredEntryError('The entry would have problems:', problems);
    const stored = { ...before, text: JSON.stringify(value), changedAt: work.context.occurredAt };
    return this.put('policy-changed', before, stored, { all: replaced(all, stored), work });
  }

  /**
   * @param change makes the new list of clients of the present one; it is checked with the whole entry
   * @throws StoredEntryError as `changePolicy`, and what `change` throws
   */
  async changeClients(
    name: string,
    change: (clients: readonly unknown[]) => readonly unknown[],
    work: StoredEntryWork,
  ): Promise<StoredEntryChange> {
    const { clients } = valueOf(this.find(await this.repository.lockAll(work.transaction), name));
    const set = { clients: change(Array.isArray(clients) ? clients : []) };
    return this.changePolicy(name, { set, unset: [] }, work);
  }

  /** Nothing that was issued ends by it. @throws StoredEntryError where there is no such entry */
  async suspend(name: string, work: StoredEntryWork): Promise<StoredEntryChange> {
    const all = await this.repository.lockAll(work.transaction);
    const before = this.find(all, name);
    const now = work.context.occurredAt;
    const stored = { ...before, suspendedAt: before.suspendedAt ?? now, changedAt: now };
    const isNews = before.suspendedAt === undefined;
    if (isNews) await this.repository.put(work.transaction, stored);
    // Also if the entry has problems, so that a suspension is certain.
    const { problems: _problems, ...outcome } = this.outcome(stored, replaced(all, stored));
    return { ...outcome, events: isNews ? events('suspended', before, stored, work) : [] };
  }

  /** @throws StoredEntryError where there is no such entry, or it would take no tokens all the same */
  async resume(name: string, work: StoredEntryWork): Promise<StoredEntryChange> {
    const all = await this.repository.lockAll(work.transaction);
    const before = this.find(all, name);
    const stored = { ...before, suspendedAt: undefined, changedAt: work.context.occurredAt };
    return this.put('resumed', before, stored, { all: replaced(all, stored), work });
  }

  /** Nothing that was issued ends by it. @throws StoredEntryError where there is no such entry */
  async remove(name: string, work: StoredEntryWork): Promise<StoredEntryChange> {
    const before = this.find(await this.repository.lockAll(work.transaction), name);
    await this.repository.remove(work.transaction, before.name);
    return { name: before.name, warnings: [], notes: [], events: events('removed', before, undefined, work) };
  }

  /** The findings about an entry if it were added now; nothing is stored. */
  async check(value: unknown): Promise<Omit<StoredEntryReading, 'problems'> & CheckedStoredEntry> {
    const reading = readStoredEntry(value, this.rules.rules);
    const now = new Date();
    const times = { suspendedAt: undefined, createdAt: now, changedAt: now };
    const stored = { name: nameOf(value), text: JSON.stringify(value), ...times };
    const all = await this.repository.all();
    if (all.some(({ name }) => name === stored.name))
      return { ...reading, stored, entry: undefined, problems: ['name: another stored entry has it'] };
    const checked = checkStoredEntries([...all, stored], this.rules).at(-1);
    return { ...reading, stored, entry: checked?.entry, problems: checked?.problems ?? reading.problems };
  }

  /** Those that no change of these concerns. */
  get configured(): readonly TrustedKeyEntry[] {
    return this.rules.configured;
  }

  /**
   * Every entry of an issuer, configured or stored, suspended ones too; undefined for one that takes no tokens. Stored ones are
   * locked until the transaction ends.
   */
  async ofIssuer(issuer: string, transaction: Transaction): Promise<(TrustedKeyEntry | undefined)[]> {
    const all = await this.repository.lockAll(transaction);
    const stored = checkStoredEntries(all, this.rules).filter(
      (one) => valueOf(one.stored)['issuer'] === issuer,
    );
    return [
      ...this.configured.filter((entry) => entry.issuer === issuer),
      ...stored.map(({ entry }) => entry),
    ];
  }

  /** All of them, checked. */
  async list(): Promise<CheckedStoredEntry[]> {
    return checkStoredEntries(await this.repository.all(), this.rules);
  }

  /** Stores what has no problem, also beside the other entries. */
  private async put(
    kind: Kind,
    before: StoredEntry | undefined,
    stored: StoredEntry,
    { all, work }: { all: readonly StoredEntry[]; work: StoredEntryWork },
  ): Promise<StoredEntryChange> {
    const { problems, ...outcome } = this.outcome(stored, all);
    if (problems.length > 0) throw new StoredEntryError('The entry would take no tokens:', problems);
    const isSame = before?.text === stored.text && before.suspendedAt === stored.suspendedAt;
    const sharesLogouts = [before ?? [], stored].flat().some((one) => this.sharesLogouts(one, all));
    if (isSame) return { ...outcome, sharesLogouts, events: [] };
    await this.repository.put(work.transaction, stored);
    return { ...outcome, sharesLogouts, events: events(kind, before, stored, work) };
  }

  /** @param name as it was given, or as logs and lists have it */
  private find(all: readonly StoredEntry[], name: string): StoredEntry {
    const found = all.find((one) => one.name === name) ?? all.find((one) => labelOf(one.name) === name);
    if (found !== undefined) return found;
    const isConfigured = this.configured.some(({ label }) => label === name);
    throw new StoredEntryError(
      isConfigured
        ? 'The entry with this name is configured, not stored: change the configuration, and restart.'
        : 'There is no stored entry with this name.',
    );
  }

  /** Whether one of an entry and another, configured or stored, sends the logouts that the other sends, or those of its issuer. */
  private sharesLogouts(stored: StoredEntry, all: readonly StoredEntry[]): boolean {
    const value = valueOf(stored);
    const others = all.filter(({ name }) => name !== stored.name).map(valueOf);
    return [...this.configured, ...others].some((other) => sendsFor(value, other) || sendsFor(other, value));
  }

  /** The findings about one entry beside all others. */
  private outcome({ name, text }: StoredEntry, all: readonly StoredEntry[]) {
    const checked = checkStoredEntries(all, this.rules).find(({ stored }) => stored.name === name);
    const { warnings, notes } = readStoredEntry(valueOf({ text }), this.rules.rules);
    return { name, entry: checked?.entry, problems: checked?.problems ?? [], warnings, notes };
  }
}

/** An entry as people and programs may be shown it: without the query of a URL, which may hold a secret. */
export function shownEntry(stored: StoredEntry): Record<string, unknown> {
  const value = valueOf(stored);
  const { url } = value;
  if (typeof url !== 'string' || !URL.canParse(url)) return value;
  return { ...value, url: toJwksAddress(url).url };
}

/** Empty where another version has stored what this one cannot read. */
function valueOf({ text }: Pick<StoredEntry, 'text'>): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function sendsFor({ logoutIssuer }: LogoutMembers, other: LogoutMembers): boolean {
  return logoutIssuer !== undefined && [other.issuer, other.logoutIssuer].includes(logoutIssuer);
}

function replaced(all: readonly StoredEntry[], stored: StoredEntry): StoredEntry[] {
  return all.map((one) => (one.name === stored.name ? stored : one));
}

/** @throws StoredEntryError for a member that is to be taken away and is not there, or is to be set as well */
function changed(old: Record<string, unknown>, change: PolicyChange): Record<string, unknown> {
  if ('entry' in change) {
    if (isJsonObject(change.entry)) return change.entry;
    throw new StoredEntryError('The entry has problems:', ['the entry: must be an object']);
  }
  const { set, unset } = change;
  const missing = unset.filter((member) => old[member] === undefined);
  const both = unset.filter((member) => set[member] !== undefined);
  if (missing.length + both.length > 0)
    throw new StoredEntryError('The policy cannot be changed so:', [
      ...missing.map((member) => `${JSON.stringify(member)}: is not set`),
      ...both.map((member) => `${JSON.stringify(member)}: is to be set and unset`),
    ]);
  const kept = Object.entries({ ...old, ...set }).filter(([member]) => !unset.includes(member));
  return Object.fromEntries(kept);
}

function events(
  change: Kind,
  before: StoredEntry | undefined,
  after: StoredEntry | undefined,
  { context }: StoredEntryWork,
): AuditEvent[] {
  const [from, to] = [recordOf(before), recordOf(after)];
  const { issuer } = to?.entry ?? from?.entry ?? {};
  const name = after?.name ?? before?.name ?? '';
  return [
    auditEvent('svc.audit.token-exchange.stored-entry-changed', context, {
      entry: name,
      change,
      ...(typeof issuer === 'string' && { issuer }),
      ...(from && { from }),
      ...(to && { to }),
    }),
  ];
}

function recordOf(stored: StoredEntry | undefined): StoredEntryRecord | undefined {
  if (stored === undefined) return undefined;
  return { isSuspended: stored.suspendedAt !== undefined, entry: shownEntry(stored) };
}
