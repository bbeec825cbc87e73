// What the operator's page needs: passwords, sessions and failed sign-ins of its own, and an index by which users are searched.
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexBesideWriters } from './index-beside-writers.js';
import { withShortLock } from './short-lock.js';

const INDEX = 'user_account_email_beginning';

/** Each statement can be run again, since they are in no transaction: the index is built while others write. */
export class Operators1790000000140 implements MigrationInterface {
  readonly name = 'Operators1790000000140';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await withShortLock(queryRunner, statement);
    // Of the beginning of an address, whatever order the database's language has.
    await buildIndexBesideWriters(queryRunner, INDEX, 'ON user_account (normalized_email text_pattern_ops)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UNDOING) await queryRunner.query(statement);
  }
}

const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS operator_password (
    user_id uuid PRIMARY KEY REFERENCES user_account (id) ON DELETE CASCADE,
    password_hash text,
    changed_at timestamptz,
    code_hash bytea,
    code_expires_at timestamptz
  )`,
  `CREATE TABLE IF NOT EXISTS operator_session (
    id uuid PRIMARY KEY,
    secret_hash bytea NOT NULL UNIQUE,
    user_id uuid NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    opened_at timestamptz NOT NULL,
    last_used_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    client_address text NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS operator_session_user ON operator_session (user_id)`,
  `CREATE TABLE IF NOT EXISTS operator_sign_in_failure (
    key bytea PRIMARY KEY,
    failures integer NOT NULL,
    waits_until timestamptz NOT NULL,
    forgotten_at timestamptz NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS operator_sign_in_failure_end ON operator_sign_in_failure (forgotten_at)`,
];

const UNDOING = [
  `DROP INDEX IF EXISTS ${INDEX}`,
  `DROP TABLE IF EXISTS operator_sign_in_failure`,
  `DROP TABLE IF EXISTS operator_session`,
  `DROP TABLE IF EXISTS operator_password`,
];
