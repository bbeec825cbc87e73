// The tables of this package. None refers to a table of the host: what a user's id is, the host knows.
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A host that had some of these tables before they belonged to a package has renamed them, and keeps them: the instance of
 * this repository did, whose columns of user ids are `uuid`. No statement here depends on which type they have.
 */
export class TokenExchange1790000000050 implements MigrationInterface {
  readonly name = 'TokenExchange1790000000050';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of TABLES) await queryRunner.query(`DROP TABLE token_exchange_${table}`);
  }
}

const TABLES = [
  'used_jti',
  'identity_link',
  'jwks_snapshot',
  'leader_lease',
  'session',
  'signing_key',
  'audit_event',
];

const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS token_exchange_used_jti (
    jti_hash bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS token_exchange_used_jti_expiry ON token_exchange_used_jti (expires_at)`,

  `CREATE TABLE IF NOT EXISTS token_exchange_identity_link (
    issuer text NOT NULL,
    subject varchar(255) NOT NULL,
    user_id text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (issuer, subject)
  )`,
  `CREATE INDEX IF NOT EXISTS token_exchange_identity_link_user ON token_exchange_identity_link (user_id)`,

  // The whole URL is kept as a hash only: its query may hold a secret, and it may be longer than an index takes.
  // key_set is text, not json: it is read by the same rules as a fetched one, and only there.
  `CREATE TABLE IF NOT EXISTS token_exchange_jwks_snapshot (
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

  `CREATE TABLE IF NOT EXISTS token_exchange_leader_lease (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    epoch bigint NOT NULL,
    candidate uuid NOT NULL,
    expires_at timestamptz NOT NULL
  )`,

  `CREATE TABLE IF NOT EXISTS token_exchange_session (
    id_hash bytea PRIMARY KEY,
    user_id text NOT NULL,
    family_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    login_origin text
  )`,
  `CREATE INDEX IF NOT EXISTS token_exchange_session_user ON token_exchange_session (user_id)`,
  `CREATE INDEX IF NOT EXISTS token_exchange_session_expiry ON token_exchange_session (expires_at)`,
  `CREATE INDEX IF NOT EXISTS token_exchange_session_family ON token_exchange_session (family_id)`,

  `CREATE TABLE IF NOT EXISTS token_exchange_signing_key (
    kid text PRIMARY KEY,
    public_jwk jsonb NOT NULL,
    sealed_private_key bytea NOT NULL,
    signs_from timestamptz NOT NULL,
    signs_until timestamptz NOT NULL,
    published_until timestamptz NOT NULL
  )`,

  // Of hosts that bring no trail of their own.
  `CREATE TABLE IF NOT EXISTS token_exchange_audit_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    occurred_at timestamptz NOT NULL,
    request_id text NOT NULL,
    subject_user_id text,
    actor_user_id text,
    payload jsonb NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS token_exchange_audit_event_subject ON token_exchange_audit_event (subject_user_id, id)`,
];
