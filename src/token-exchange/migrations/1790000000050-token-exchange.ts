// The tables of this package. None refers to a table of the host: what a user's id is, the host knows.
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { MIGRATION_LOCK } from './migration-lock.js';

/**
 * Tables that are there already stay as they are, also when this is undone: the instance of this repository had them before
 * they belonged to a package, with columns of user ids that are `uuid`. No statement depends on which type they have.
 */
export class TokenExchange1790000000050 implements MigrationInterface {
  readonly name = 'TokenExchange1790000000050';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    for (const [table, statements] of Object.entries(TABLES)) {
      if ((await commentOn(queryRunner, table)) !== undefined) continue;
      for (const statement of statements) await queryRunner.query(statement);
      await queryRunner.query(`COMMENT ON TABLE ${table} IS '${MADE_HERE}'`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of Object.keys(TABLES)) {
      if ((await commentOn(queryRunner, table)) === MADE_HERE) await queryRunner.query(`DROP TABLE ${table}`);
    }
  }
}

/** Tells the tables that this migration has made from those that it found. */
const MADE_HERE = 'made by @embedded-token-exchange/nestjs';

/** Empty for a table without a comment, undefined where there is no such table. */
async function commentOn(queryRunner: QueryRunner, table: string): Promise<string | undefined> {
  const found = (await queryRunner.query(
    `SELECT coalesce(obj_description(oid, 'pg_class'), '') AS comment FROM pg_class WHERE oid = to_regclass($1)`,
    [table],
  )) as { comment: string }[];
  return found[0]?.comment;
}

/** Each table with the statements that make it. */
export const TABLES: Readonly<Record<string, readonly string[]>> = {
  token_exchange_used_jti: [
    `CREATE TABLE token_exchange_used_jti (
      jti_hash bytea PRIMARY KEY,
      expires_at timestamptz NOT NULL
    )`,
    `CREATE INDEX token_exchange_used_jti_expiry ON token_exchange_used_jti (expires_at)`,
  ],
  token_exchange_identity_link: [
    `CREATE TABLE token_exchange_identity_link (
      issuer text NOT NULL,
      subject varchar(255) NOT NULL,
      user_id text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (issuer, subject)
    )`,
    `CREATE INDEX token_exchange_identity_link_user ON token_exchange_identity_link (user_id)`,
  ],
  // The whole URL is kept as a hash only: its query may hold a secret, and it may be longer than an index takes.
  // key_set is text, not json: it is read by the same rules as a fetched one, and only there.
  token_exchange_jwks_snapshot: [
    `CREATE TABLE token_exchange_jwks_snapshot (
      url_hash text PRIMARY KEY,
      url text NOT NULL,
      key_set text,
      fresh_until timestamptz,
      last_success_at timestamptz,
      last_failure_at timestamptz,
      last_failure_reason text,
      consecutive_failures integer NOT NULL DEFAULT 0,
      next_refresh_at timestamptz,
      last_unknown_kid_fetch_at timestamptz,
      revision integer NOT NULL DEFAULT 0
    )`,
  ],
  token_exchange_leader_lease: [
    `CREATE TABLE token_exchange_leader_lease (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      epoch bigint NOT NULL,
      candidate uuid NOT NULL,
      expires_at timestamptz NOT NULL
    )`,
  ],
  token_exchange_session: [
    `CREATE TABLE token_exchange_session (
      id_hash bytea PRIMARY KEY,
      user_id text NOT NULL,
      family_id uuid NOT NULL,
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      login_origin text
    )`,
    `CREATE INDEX token_exchange_session_user ON token_exchange_session (user_id)`,
    `CREATE INDEX token_exchange_session_expiry ON token_exchange_session (expires_at)`,
    `CREATE INDEX token_exchange_session_family ON token_exchange_session (family_id)`,
  ],
  token_exchange_signing_key: [
    `CREATE TABLE token_exchange_signing_key (
      kid text PRIMARY KEY,
      public_jwk jsonb NOT NULL,
      sealed_private_key bytea NOT NULL,
      signs_from timestamptz NOT NULL,
      signs_until timestamptz NOT NULL,
      published_until timestamptz NOT NULL
    )`,
  ],
  // Of hosts that bring no trail of their own.
  token_exchange_audit_event: [
    `CREATE TABLE token_exchange_audit_event (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text NOT NULL,
      occurred_at timestamptz NOT NULL,
      request_id text NOT NULL,
      subject_user_id text,
      actor_user_id text,
      payload jsonb NOT NULL
    )`,
    `CREATE INDEX token_exchange_audit_event_subject ON token_exchange_audit_event (subject_user_id, id)`,
  ],
};
