// Passwords for the operator's page, the codes to set them, and all their queries.
import { Inject, Injectable } from '@nestjs/common';
import type { StatementPool } from '../../platform/database/database.js';
import { OPERATOR_DATABASE } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import { normalizeEmail } from '../../users/email.js';
import type { GlobalRole } from '../../users/role.js';
import { OPERATOR_ROLES } from '../../users/role.js';
import { UserRepository } from '../../users/user.repository.js';

/** A user with the data that a sign-in checks. */
export interface OperatorAccount {
  readonly id: string;
  readonly email: string;
  readonly givenName: string;
  readonly familyName: string;
  readonly role: GlobalRole;
  readonly enabled: boolean;
  /** Null if none was set. */
  readonly passwordHash: string | null;
}

const ACCOUNT = `u.id::text AS id, u.email, u.given_name AS "givenName", u.family_name AS "familyName", u.role, u.enabled,
  p.password_hash AS "passwordHash"
  FROM user_account u LEFT JOIN operator_password p ON p.user_id = u.id`;

@Injectable()
export class OperatorAccountRepository {
  constructor(
    @Inject(OPERATOR_DATABASE) private readonly database: StatementPool,
    private readonly users: UserRepository,
  ) {}

  /** Uses one statement, so that it takes the same time whether or not the user exists. */
  async findByEmail(email: string): Promise<OperatorAccount | undefined> {
    const [account] = await this.database.query<OperatorAccount>(
      `SELECT ${ACCOUNT} WHERE u.normalized_email = $1`,
      [normalizeEmail(email)],
    );
    return account;
  }

  /**
   * Locks the account until the transaction ends: its state, role and password cannot change. The account is
   * read by a separate statement, because a statement that waits for a lock sees other tables as they were
   * before the wait. Every write of the password locks this row first.
   */
  async lock(userId: string, transaction: Transaction): Promise<OperatorAccount | undefined> {
    const manager = managerOf(transaction);
    await manager.query('SELECT 1 FROM user_account WHERE id = $1 FOR NO KEY UPDATE', [userId]);
    const [account] = await manager.query<OperatorAccount[]>(`SELECT ${ACCOUNT} WHERE u.id = $1`, [userId]);
    return account;
  }

  /** Also deletes a code for this user. */
  async setPassword(transaction: Transaction, userId: string, hash: string, changedAt: Date): Promise<void> {
    await managerOf(transaction).query(
      `INSERT INTO operator_password (user_id, password_hash, changed_at) VALUES ($1, $2, $3)
       ON CONFLICT (user_id) DO UPDATE SET password_hash = excluded.password_hash, changed_at = excluded.changed_at,
         code_hash = NULL, code_expires_at = NULL`,
      [userId, hash, changedAt],
    );
    await this.users.enablePasswordLogin(userId, transaction);
  }

  /** Replaces an earlier code. The password stays until the code is used. */
  async setCode(transaction: Transaction, userId: string, codeHash: Buffer, expiresAt: Date): Promise<void> {
    await managerOf(transaction).query(
      `INSERT INTO operator_password (user_id, code_hash, code_expires_at) VALUES ($1, $2, $3)
       ON CONFLICT (user_id) DO UPDATE SET code_hash = excluded.code_hash, code_expires_at = excluded.code_expires_at`,
      [userId, codeHash, expiresAt],
    );
  }

  /** The user of a code; undefined if that user may not sign in, or the code has expired. */
  async findByCode(email: string, codeHash: Buffer, now: Date): Promise<string | undefined> {
    const [found] = await this.database.query<{ id: string }>(
      `SELECT u.id::text AS id FROM operator_password p JOIN user_account u ON u.id = p.user_id
       WHERE u.normalized_email = $1 AND p.code_hash = $2 AND p.code_expires_at > $3 AND u.enabled AND u.role = ANY ($4)`,
      [normalizeEmail(email), codeHash, now, OPERATOR_ROLES],
    );
    return found?.id;
  }

  /** Uses up a code; false if another request already has. The row lock decides. */
  async takeCode(transaction: Transaction, userId: string, codeHash: Buffer, now: Date): Promise<boolean> {
    const taken = await managerOf(transaction).query<unknown[]>(
      `WITH taken AS (
         UPDATE operator_password SET code_hash = NULL, code_expires_at = NULL
         WHERE user_id = $1 AND code_hash = $2 AND code_expires_at > $3 RETURNING 1
       ) SELECT 1 FROM taken`,
      [userId, codeHash, now],
    );
    return taken.length === 1;
  }
}
