// Statements of quotas: the lock of an owner, and whether it is over its limit.
import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';

/** The most of each kind that one owner may have: a project, and for `projects` a user; each 1 or more. */
export interface QuotaLimits {
  readonly workflows: number;
  readonly credentials: number;
  readonly members: number;
  /** The memberships of a user, that of the personal project included. */
  readonly projects: number;
}

export type QuotaKind = keyof QuotaLimits;

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

@Injectable()
export class QuotaRepository {
  /** Locks the owner until the transaction ends; rows that refer to it may come in. A deleted owner locks nothing. */
  async lockOwner(transaction: Transaction, kind: QuotaKind, ownerId: string): Promise<void> {
    const { ownerTable } = COUNTED[kind];
    const sql = `SELECT 1 FROM ${ownerTable} WHERE id = $1 FOR NO KEY UPDATE`;
    await managerOf(transaction).query(sql, [ownerId]);
  }

  /** Reads one entry of an index more than the limit at most, however many there are. */
  async hasMore(transaction: Transaction, kind: QuotaKind, ownerId: string, limit: number): Promise<boolean> {
    const { table, column } = COUNTED[kind];
    const sql = `SELECT 1 FROM ${table} WHERE ${column} = $1 OFFSET $2 LIMIT 1`;
    return (await managerOf(transaction).query<object[]>(sql, [ownerId, limit])).length > 0;
  }
}
