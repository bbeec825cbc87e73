// What was taken back before its time: trust in keys, single access tokens, and all that was issued to a user.
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { MIGRATION_LOCK } from './migration-lock.js';

/**
 * Beside it the release before goes on: it knows nothing of revocations, and leaves the new column empty.
 *
 * `written_in` is the transaction that wrote a row. Transactions commit in another order than they begin, so readers go by the
 * oldest one that was running when they last looked; numbers or times of rows would let one slip through. In a dump that was
 * brought to another server they are larger than what comes there: then such rows are read each time until they are purged.
 */
export class TokenExchange1790000000070 implements MigrationInterface {
  readonly name = 'TokenExchange1790000000070';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    for (const statements of Object.values(REVOCATION_TABLES))
      for (const statement of statements) await queryRunner.query(statement);
    // [{"iss", "kid"}, …]; null where the session was opened by a release that did not record it.
    await queryRunner.query('ALTER TABLE token_exchange_session ADD COLUMN IF NOT EXISTS vouched_by jsonb');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE token_exchange_session DROP COLUMN vouched_by');
    for (const table of Object.keys(REVOCATION_TABLES)) await queryRunner.query(`DROP TABLE ${table}`);
  }
}

/** Each table with the statements that make it. */
export const REVOCATION_TABLES: Readonly<Record<string, readonly string[]>> = {
  // An empty kid, which no key has, stands for all keys of the issuer.
  token_exchange_trust_revocation: [
    `CREATE TABLE IF NOT EXISTS token_exchange_trust_revocation (
      issuer text NOT NULL,
      kid text NOT NULL,
      revoked_at timestamptz NOT NULL,
      restored_at timestamptz,
      PRIMARY KEY (issuer, kid)
    )`,
  ],
  token_exchange_ended_token: [
    `CREATE TABLE IF NOT EXISTS token_exchange_ended_token (
      token_id text PRIMARY KEY,
      expires_at timestamptz NOT NULL,
      written_in bigint NOT NULL DEFAULT txid_current()
    )`,
    'CREATE INDEX IF NOT EXISTS token_exchange_ended_token_expiry ON token_exchange_ended_token (expires_at)',
    'CREATE INDEX IF NOT EXISTS token_exchange_ended_token_written ON token_exchange_ended_token (written_in)',
  ],
  token_exchange_user_sign_out: [
    `CREATE TABLE IF NOT EXISTS token_exchange_user_sign_out (
      user_id text PRIMARY KEY,
      signed_out_at timestamptz NOT NULL,
      written_in bigint NOT NULL DEFAULT txid_current()
    )`,
    'CREATE INDEX IF NOT EXISTS token_exchange_user_sign_out_time ON token_exchange_user_sign_out (signed_out_at)',
    'CREATE INDEX IF NOT EXISTS token_exchange_user_sign_out_written ON token_exchange_user_sign_out (written_in)',
  ],
};
