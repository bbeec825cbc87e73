// The tables of this package. None refers to a table of the host: the host knows what the id of a user is.
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class TokenExchange1795800000000 implements MigrationInterface {
  readonly name = 'TokenExchange1795800000000';

  /** @throws Error if the tables of an unreleased version exist, because no migration converts them */
  async up(queryRunner: QueryRunner): Promise<void> {
    await requireNoTables(queryRunner);
    for (const statements of Object.values(TABLES))
      for (const statement of statements) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE ${TOKEN_EXCHANGE_TABLES.join(', ')}`);
  }
}

async function requireNoTables(queryRunner: QueryRunner): Promise<void> {
  const found = (await queryRunner.query(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL',
    [TOKEN_EXCHANGE_TABLES],
  )) as { name: string }[];
  if (found.length === 0) return;
  throw new Error(
    `The database has tables of token exchange that an unreleased version made (${found[0]?.name} and others), ` +
      'and no migration converts them: drop the tables whose names begin with token_exchange_, or use another database.',
  );
}

/** Each table with the statements that create it. Columns of user ids may have another type, because no statement depends on it. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  // logout_issuer is the issuer whose logout used the id up; null for every other use.
  token_exchange_used_jti: [
    `CREATE TABLE token_exchange_used_jti (
      jti_hash uuid PRIMARY KEY,
      expires_at timestamptz NOT NULL,
      logout_issuer text
    )`,
    `CREATE INDEX token_exchange_used_jti_expiry ON token_exchange_used_jti (expires_at)`,
  ],
  // projects_digest is the digest of the projects claim that was last synced. A host clears it when something else changes a
  // membership from the claim.
  token_exchange_identity_link: [
    `CREATE TABLE token_exchange_identity_link (
      issuer text NOT NULL,
      subject varchar(255) NOT NULL,
      user_id text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      projects_digest text,
      PRIMARY KEY (issuer, subject)
    )`,
    `CREATE INDEX token_exchange_identity_link_user ON token_exchange_identity_link (user_id)`,
  ],
  // The whole URL is stored only as a hash: its query may contain a secret, and it may be too long for an index.
  // key_set is text, not json, because the reader of fetched key sets parses it.
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
  // entry is text, not json, because the reader of configured entries parses it.
  // Each change gets the next revision. Changes run one after the other, so that none commits after a later one.
  token_exchange_stored_entry: [
    `CREATE TABLE token_exchange_stored_entry (
      name text PRIMARY KEY,
      entry text NOT NULL,
      is_owners boolean NOT NULL,
      created_at timestamptz NOT NULL,
      changed_at timestamptz NOT NULL,
      revision bigint GENERATED ALWAYS AS IDENTITY
    )`,
  ],
  // An empty kid, which no key has, means all keys of the issuer.
  token_exchange_trust_revocation: [
    `CREATE TABLE token_exchange_trust_revocation (
      issuer text NOT NULL,
      kid text NOT NULL,
      revoked_at timestamptz NOT NULL,
      restored_at timestamptz,
      PRIMARY KEY (issuer, kid)
    )`,
  ],
  // vouched_by is [{"iss", "kid"}, …]. access_generation is the host's own text. The keys of the external login are hashes.
  token_exchange_session: [
    `CREATE TABLE token_exchange_session (
      id_hash bytea PRIMARY KEY,
      user_id text NOT NULL,
      family_id uuid NOT NULL,
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      login_origin text,
      vouched_by jsonb,
      access_generation text,
      login_subject text,
      login_session text,
      login_issued_at double precision
    )`,
    `CREATE INDEX token_exchange_session_user ON token_exchange_session (user_id)`,
    `CREATE INDEX token_exchange_session_expiry ON token_exchange_session (expires_at)`,
    `CREATE INDEX token_exchange_session_family ON token_exchange_session (family_id)`,
    `CREATE INDEX token_exchange_session_login_subject ON token_exchange_session (login_subject)`,
    `CREATE INDEX token_exchange_session_login_session ON token_exchange_session (login_session)`,
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
  // written_in is the transaction that wrote the row. Transactions commit in another order than they begin. Readers therefore
  // start from the oldest transaction that was running at their last read. A time or a sequence could skip a row. After a
  // restore on another server, stored values may be larger than current ones. Such rows are read each time until they expire.
  token_exchange_ended_token: [
    `CREATE TABLE token_exchange_ended_token (
      token_id text PRIMARY KEY,
      expires_at timestamptz NOT NULL,
      written_in bigint NOT NULL DEFAULT txid_current()
    )`,
    'CREATE INDEX token_exchange_ended_token_expiry ON token_exchange_ended_token (expires_at)',
    'CREATE INDEX token_exchange_ended_token_written ON token_exchange_ended_token (written_in)',
  ],
  // The logouts by providers. The hashes are those in sessions and access tokens. An empty hash means all logins of the issuer.
  // For written_in see above.
  token_exchange_logout: [
    `CREATE TABLE token_exchange_logout (
      issuer text NOT NULL,
      login_key text NOT NULL,
      issued_until double precision NOT NULL,
      received_at timestamptz NOT NULL,
      written_in bigint NOT NULL DEFAULT txid_current(),
      PRIMARY KEY (issuer, login_key)
    )`,
    `CREATE INDEX token_exchange_logout_of_all ON token_exchange_logout (issuer) WHERE login_key = ''`,
    'CREATE INDEX token_exchange_logout_received ON token_exchange_logout (received_at)',
    'CREATE INDEX token_exchange_logout_written ON token_exchange_logout (written_in)',
  ],
  // The audit trail of hosts that have no trail of their own.
  token_exchange_audit_event: [
    `CREATE TABLE token_exchange_audit_event (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      occurred_at timestamptz NOT NULL,
      name text NOT NULL,
      request_id text NOT NULL,
      subject_user_id text,
      actor_user_id text,
      payload jsonb NOT NULL
    )`,
    `CREATE INDEX token_exchange_audit_event_subject ON token_exchange_audit_event (subject_user_id, id)`,
  ],
};

/** The tables of the migration. */
export const TOKEN_EXCHANGE_TABLES: readonly string[] = Object.keys(TABLES);
