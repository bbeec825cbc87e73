// Passwords for the operator's page, the codes to set them, and all their queries.
import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { StatementPool } from '../../platform/database/database.js';
import { OPERATOR_DATABASE } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import type { GlobalRole } from '../../users/role.js';
import { OPERATOR_ROLES } from '../../users/role.js';
import { normalizeEmail, UserRepository } from '../../users/user.repository.js';

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

/** Failures in a row without a wait; each further one doubles it. */
const FREE_FAILURES = 4;
const LONGEST_WAIT_SECONDS = 900;
const FORGOTTEN_AFTER_SECONDS = 86_400;

/** Returns the key under which failures are counted: a hash of the account, existing or not, and the client's address. */
export function failureKey(email: string, clientAddress: string): Buffer {
  return createHash('sha256')
    .update(`${normalizeEmail(email)}\0${clientAddress}`, 'utf8')
    .digest();
}

@Injectable()
export class SignInFailureRepository {
  constructor(@Inject(OPERATOR_DATABASE) private readonly database: StatementPool) {}

  /**
   * Counts an attempt as a failure before it is checked, in one statement, so that concurrent attempts cannot
   * all be the first.
   * @rule D107 From the fifth failure in a row, an account waits, for that address only: 1 second, then twice
   * as long each time, at most 15 minutes. It is never locked: its user can sign in from elsewhere.
   * @returns undefined if the attempt may be checked; otherwise the seconds to wait, at least one
   */
  async begin(key: Buffer, now: Date): Promise<number | undefined> {
    const begun = await this.database.query(
      `INSERT INTO operator_sign_in_failure AS held (key, failures, waits_until, forgotten_at)
       VALUES ($1, 1, $2, $2::timestamptz + $4 * interval '1 second')
       ON CONFLICT (key) DO UPDATE SET
         failures = CASE WHEN held.forgotten_at <= $2 THEN 1 ELSE held.failures + 1 END,
         waits_until = $2::timestamptz + interval '1 second' * CASE
           WHEN held.forgotten_at <= $2 OR held.failures < $5 THEN 0
           ELSE least($3::float8, power(2::float8, least(held.failures, 30) - $5)) END,
         forgotten_at = excluded.forgotten_at
       -- A wait above the maximum was stored while the clock was wrong.
       WHERE held.waits_until <= $2 OR held.waits_until > $2::timestamptz + $3 * interval '1 second'
       RETURNING 1`,
      [key, now, LONGEST_WAIT_SECONDS, FORGOTTEN_AFTER_SECONDS, FREE_FAILURES],
    );
    if (begun.length > 0) return undefined;
    return (await this.wait(key, now)) ?? 1;
  }

  /**
   * Reads the wait without counting. @returns the seconds to wait, at least one; undefined if there is no
   * wait
   */
  async wait(key: Buffer, now: Date): Promise<number | undefined> {
    const [held] = await this.database.query<{ waitsUntil: Date }>(
      `SELECT waits_until AS "waitsUntil" FROM operator_sign_in_failure
       WHERE key = $1 AND waits_until > $2 AND waits_until <= $2::timestamptz + $3 * interval '1 second'`,
      [key, now, LONGEST_WAIT_SECONDS],
    );
    return held && Math.max(1, Math.ceil((held.waitsUntil.getTime() - now.getTime()) / 1000));
  }

  async forget(transaction: Transaction, key: Buffer): Promise<void> {
    await managerOf(transaction).query('DELETE FROM operator_sign_in_failure WHERE key = $1', [key]);
  }
}
