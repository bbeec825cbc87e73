// Addresses are compared with their domain in ASCII from now on: brings those that were stored with another spelling into that form.
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { normalizeEmail } from '../../users/email.js';

interface Stored {
  readonly id: string;
  readonly email: string;
  readonly normalizedEmail: string;
}

/**
 * Of two users whose addresses are the same now, the one whose address was in ASCII keeps it. The other stays as it is: found by its
 * id and its links, and by no address. So does a user with an address that is malformed now.
 */
export class EmailDomains1790000000200 implements MigrationInterface {
  readonly name = 'EmailDomains1790000000200';

  async up(queryRunner: QueryRunner): Promise<void> {
    const stored = (await queryRunner.query(
      `SELECT id::text AS id, email, normalized_email AS "normalizedEmail" FROM user_account
       WHERE octet_length(normalized_email) <> char_length(normalized_email) ORDER BY id`,
    )) as Stored[];
    for (const { id, email, normalizedEmail } of stored) {
      const form = normalizeEmail(email);
      if (form !== normalizedEmail) await queryRunner.query(RENEW, [id, form]);
    }
  }

  /** The release before finds these users by their links. */
  async down(): Promise<void> {
    // Nothing to undo: what was compared before is in no column.
  }
}

const RENEW = `UPDATE user_account SET normalized_email = $2
  WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM user_account WHERE normalized_email = $2)`;
