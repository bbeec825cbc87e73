// Stores the entries, and notifies other instances of each change.
import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import type { Transaction } from '../../../platform/database/transaction.js';
import { managerOf } from '../../../platform/database/transaction.js';
import type { StoredEntry } from './stored-entry.js';

/** The channel on which each change is announced (NOTIFY). */
export const STORED_ENTRY_CHANNEL = 'stored_entry';

/** The state of the table: equal states mean the same entries. */
export type StoredEntriesState = string;

const ALL = `SELECT name, entry AS text, is_owners AS "isOwners", created_at AS "createdAt", changed_at AS "changedAt", revision::text
  FROM token_exchange_stored_entry ORDER BY created_at, name`;

@Injectable()
export class StoredEntryRepository {
  constructor(private readonly database: Database) {}

  /**
   * The state of the table. Changes are serialized, and each takes a higher revision: while highest revision and number of rows
   * are the same, so are the rows.
   */
  async state(): Promise<StoredEntriesState> {
    const [row] = await this.database.background.query<{ state: StoredEntriesState }>(
      `SELECT count(*) || '/' || coalesce(max(revision), 0) AS state FROM token_exchange_stored_entry`,
    );
    return row?.state ?? '';
  }

  /** In the order in which they were added. */
  all(): Promise<StoredEntry[]> {
    return this.database.background.query<StoredEntry>(ALL);
  }

  /** As `all`; other changes wait until the transaction ends. */
  async lockAll(transaction: Transaction): Promise<StoredEntry[]> {
    const manager = managerOf(transaction);
    await manager.query('LOCK TABLE token_exchange_stored_entry IN SHARE ROW EXCLUSIVE MODE');
    return manager.query<StoredEntry[]>(ALL);
  }

  /** Inserts or replaces the row of a name, with another revision, and announces it. Call after `lockAll`. */
  async put(
    transaction: Transaction,
    { name, text, isOwners, createdAt, changedAt }: StoredEntry,
  ): Promise<void> {
    await managerOf(transaction).query(
      `INSERT INTO token_exchange_stored_entry (name, entry, is_owners, created_at, changed_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (name) DO UPDATE SET entry = excluded.entry, is_owners = excluded.is_owners, changed_at = excluded.changed_at,
         revision = DEFAULT`,
      [name, text, isOwners, createdAt, changedAt],
    );
    await this.announce(transaction);
  }

  /** Deletes the row of a name, and announces it. Call after `lockAll`. */
  async remove(transaction: Transaction, name: string): Promise<void> {
    await managerOf(transaction).query('DELETE FROM token_exchange_stored_entry WHERE name = $1', [name]);
    await this.announce(transaction);
  }

  /** Heard after the commit. */
  private async announce(transaction: Transaction): Promise<void> {
    await managerOf(transaction).query(`SELECT pg_notify($1, '')`, [STORED_ENTRY_CHANNEL]);
  }
}
