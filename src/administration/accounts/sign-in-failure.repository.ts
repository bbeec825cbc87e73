// Counts failed sign-ins per account and address, for all instances, and computes how long the next one must
// wait.
import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { StatementPool } from '../../platform/database/database.js';
import { OPERATOR_DATABASE } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { managerOf } from '../../platform/database/transaction.js';
import { normalizeEmail } from '../../users/email.js';

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

  /** Deletes the failures after a successful attempt. */
  async forget(transaction: Transaction, key: Buffer): Promise<void> {
    await managerOf(transaction).query('DELETE FROM operator_sign_in_failure WHERE key = $1', [key]);
  }
}
