// Changes stored entries for a host's own code. They cannot be changed over HTTP.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock.js';
import { newRequestId } from '../../../platform/http/http-messages.js';
import { AuditBus } from '../../audit/audit-trail.js';
import { policyInWords } from '../policy-checks.js';
import type { StoredEntryChange, StoredEntryWork } from './stored-entry.changes.js';
import { StoredEntryChanges } from './stored-entry.changes.js';
import { StoredEntryFollower } from './stored-entry.follower.js';
import type { CheckedStoredEntry, EntryValue, StoredEntriesRules } from './stored-entry.js';
import { shownEntry, STORED_ENTRIES_RULES } from './stored-entry.js';
import { StoredEntryRepository } from './stored-entry.repository.js';

/** A stored entry that people and programs may see. */
export interface StoredEntryStatus {
  readonly name: string;
  /** `refused`: its tokens are refused, because it has problems. */
  readonly state: 'trusted' | 'suspended' | 'refused';
  /** As it was stored, without the query of a URL. */
  readonly entry: EntryValue;
  /** What its tokens may do, in phrases; empty if the entry is refused. */
  readonly policy: readonly string[];
  readonly problems: readonly string[];
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly changedAt: string;
}

/** Whether the tokens of a stored entry are accepted. */
export function stateOf({ entry }: CheckedStoredEntry): StoredEntryStatus['state'] {
  if (entry === undefined) return 'refused';
  return entry.suspended === true ? 'suspended' : 'trusted';
}

/**
 * Entries besides the configured ones. Each change is in the audit trail, and applies in every process of the host within 10
 * seconds, in this one when it resolves. A token or an embedded session must never change trust (D73), so do not call this for
 * its user.
 */
@Injectable()
export class StoredEntryService {
  private readonly changes: StoredEntryChanges;

  constructor(
    repository: StoredEntryRepository,
    @Inject(STORED_ENTRIES_RULES) rules: StoredEntriesRules,
    private readonly follower: StoredEntryFollower,
    private readonly audit: AuditBus,
    private readonly clock: Clock,
  ) {
    this.changes = new StoredEntryChanges(repository, () => rules);
  }

  /**
   * @param entry as in the settings, with a `name`
   * @throws StoredEntryError with every problem
   */
  add(entry: object): Promise<StoredEntryChange> {
    return this.commit((work) => this.changes.add(entry, work));
  }

  /**
   * @param edit returns the whole new entry for the present one. With `suspended: true` its tokens are refused until the property
   * is removed
   * @throws StoredEntryError where there is no such entry, or it would have a problem; and what `edit` throws
   */
  change(name: string, edit: (entry: EntryValue) => EntryValue): Promise<StoredEntryChange> {
    return this.commit((work) => this.changes.change(name, edit, work));
  }

  /** @throws StoredEntryError where there is no such entry */
  remove(name: string): Promise<StoredEntryChange> {
    return this.commit((work) => this.changes.remove(name, work));
  }

  /** In the order in which they were added. */
  async list(): Promise<StoredEntryStatus[]> {
    const now = this.clock.now();
    return (await this.changes.list()).map((checked) => {
      const { stored, entry, problems } = checked;
      const { name, createdAt, changedAt } = stored;
      return {
        ...{ name, state: stateOf(checked), entry: shownEntry(stored), problems },
        policy: entry === undefined ? [] : policyInWords(entry, now),
        createdAt: createdAt.toISOString(),
        changedAt: changedAt.toISOString(),
      };
    });
  }

  private async commit(
    change: (work: StoredEntryWork) => Promise<StoredEntryChange>,
  ): Promise<StoredEntryChange> {
    const changed = await this.audit.commit(async (transaction) => {
      const context = { occurredAt: this.clock.now(), requestId: newRequestId() };
      const result = await change({ transaction, context, isOwners: true });
      return { result, events: result.events };
    });
    // The event would apply it later, and not at all if the host uses another prefix.
    await this.follower.followNews();
    return changed;
  }
}
