// How much there may be of what users make, each kind by its owner: the lock of an owner, and whether it is over its limit.
import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import { ApiRefusal } from '../api/api-refusal.js';
import { managerOf } from '../../platform/database/transaction.js';

/**
 * The most of each kind that one owner may have: a project, and for `projects` a user, whose personal project is one of them.
 * Honest owners stay far below. A page of a list may look at all workflows of a user's projects, so these limits bound its time.
 */
const LIMITS = { workflows: 2_000, credentials: 1_000, members: 10_000, projects: 100 };

export type QuotaKind = keyof typeof LIMITS;

interface Counted {
  readonly ownerTable: string;
  /** Rows of `table` belong to an owner by `column`, which an index begins with. */
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

/** In the order in which their owners are locked: users before projects, as everywhere. */
const KINDS: readonly QuotaKind[] = ['projects', 'members', 'workflows', 'credentials'];

/**
 * @rule D103 An addition for an owner waits for other additions and counts then, no further than the limit: of two at once at the
 *   limit one passes. Existing rows above the limit stay.
 */
@Injectable()
export class Quotas {
  /**
   * Adds by `insert`, whose other errors come first. Kinds are locked in one order, so that there are no deadlocks.
   * @throws ApiRefusal `quota_exceeded` where there is too much afterwards: the transaction must not be committed then
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

/** Until the transaction ends; rows that refer to the owner may come in. A deleted owner locks nothing. */
async function lockOwner(transaction: Transaction, kind: QuotaKind, ownerId = ''): Promise<void> {
  const { ownerTable } = COUNTED[kind];
  const sql = `SELECT 1 FROM ${ownerTable} WHERE id = $1 FOR NO KEY UPDATE`;
  await managerOf(transaction).query(sql, [ownerId]);
}

/** Reads one entry of an index more than the limit at most, however many there are. */
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
