// Limits how many objects of each kind an owner may have: locks the owner, and checks the limit.
import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import { ApiRefusal } from '../api/api-refusal.js';

/**
 * The limits per owner. The owner is a project. For `projects` it is a user, and the personal project counts.
 * Ordinary owners stay far below. A page of a list may read all workflows of a user's projects, so these limits
 * bound its time.
 */
const LIMITS = { workflows: 2_000, credentials: 1_000, members: 10_000, projects: 100 };

export type QuotaKind = keyof typeof LIMITS;

interface Counted {
  readonly ownerTable: string;
  /** The column of `table` with the owner's id, which is the first in an index. */
  readonly table: string;
  readonly column: string;
}

const COUNTED: Readonly<Record<QuotaKind, Counted>> = {
  workflows: { ownerTable: 'project', table: 'workflow', column: 'project_id' },
  credentials: { ownerTable: 'project', table: 'credential', column: 'project_id' },
  members: { ownerTable: 'project', table: 'project_member', column: 'project_id' },
  projects: { ownerTable: 'user_account', table: 'project_member', column: 'user_id' },
};

const WORDS: Readonly<Record<QuotaKind, (limit: number) => string>> = {
  workflows: (limit) => `A project has at most ${limit} workflows`,
  credentials: (limit) => `A project has at most ${limit} credentials`,
  members: (limit) => `A project has at most ${limit} members`,
  projects: (limit) => `A user is a member of at most ${limit} projects`,
};

/** The order in which owners are locked: users before projects, as everywhere. */
const KINDS: readonly QuotaKind[] = ['projects', 'members', 'workflows', 'credentials'];

/**
 * Additions for one owner run one after the other, and each counts up to the limit. At the limit, only one of two
 * concurrent additions succeeds. Existing rows above the limit stay.
 */
@Injectable()
export class Quotas {
  /**
   * Adds rows with `insert`, whose other errors take precedence. Kinds are locked in a fixed order to prevent
   * deadlocks.
   * @throws ApiRefusal `quota_exceeded` if the limit is exceeded afterwards; the transaction must then be
   * rolled back
   */
  async within<T>(
    transaction: Transaction,
    owners: Partial<Readonly<Record<QuotaKind, string>>>,
    insert: () => Promise<T>,
  ): Promise<T> {
    const kinds = KINDS.filter((kind) => owners[kind] !== undefined);
    for (const kind of kinds) await lockOwner(transaction, kind, owners[kind]);
    const made = await insert();
    for (const kind of kinds) {
      const limit = LIMITS[kind];
      if (await hasMore(transaction, kind, owners[kind], limit))
        throw new ApiRefusal('quota_exceeded', WORDS[kind](limit));
    }
    return made;
  }
}

/**
 * Locks the owner until the transaction ends, but allows rows that refer to it. A deleted owner locks
 * nothing.
 */
async function lockOwner(transaction: Transaction, kind: QuotaKind, ownerId = ''): Promise<void> {
  const { ownerTable } = COUNTED[kind];
  const sql = `SELECT 1 FROM ${ownerTable} WHERE id = $1 FOR NO KEY UPDATE`;
  await managerOf(transaction).query(sql, [ownerId]);
}

/** Reads at most one index entry more than the limit. */
async function hasMore(
  transaction: Transaction,
  kind: QuotaKind,
  ownerId = '',
  limit: number,
): Promise<boolean> {
  const { table, column } = COUNTED[kind];
  const sql = `SELECT 1 FROM ${table} WHERE ${column} = $1 OFFSET $2 LIMIT 1`;
  return (await managerOf(transaction).query<object[]>(sql, [ownerId, limit])).length > 0;
}
