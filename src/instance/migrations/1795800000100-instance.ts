// The schema of the instance: users, workspace, audit trail, operators, throttle counters.
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Instance1795800000100 implements MigrationInterface {
  readonly name = 'Instance1795800000100';

  async up(queryRunner: QueryRunner): Promise<void> {
    const statements = [...USERS, ...WORKSPACE, ...OTHERS];
    for (const statement of statements) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of TABLES_OF_USERS)
      await queryRunner.query(
        `ALTER TABLE ${table} DROP CONSTRAINT ${table}_user_id_fkey, ALTER COLUMN user_id TYPE text`,
      );
    await queryRunner.query(`DROP TABLE ${TABLES.join(', ')}`);
    await queryRunner.query(`DROP FUNCTION ${FUNCTIONS.join(', ')}`);
  }
}

const TABLES = [
  'user_account',
  'project',
  'project_external_key',
  'project_member',
  'workflow',
  'credential',
  'audit_event',
  'audit_sink_cursor',
  'operator_password',
  'operator_session',
  'operator_sign_in_failure',
  'throttle_counter',
];
const FUNCTIONS = ['user_account_disabled()', 'project_member_changed()'];

/** The package's tables with data of a user. */
const TABLES_OF_USERS = ['token_exchange_identity_link', 'token_exchange_session'];

const USERS = [
  `CREATE TABLE user_account (
    id uuid PRIMARY KEY,
    email text NOT NULL,
    normalized_email text NOT NULL CONSTRAINT user_account_email_key UNIQUE,
    given_name varchar(32) NOT NULL DEFAULT '',
    family_name varchar(32) NOT NULL DEFAULT '',
    role text NOT NULL CHECK (role IN ('global:owner', 'global:admin', 'global:member')),
    enabled boolean NOT NULL DEFAULT true,
    password_login_enabled boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    access_generation bigint NOT NULL DEFAULT 0
  )`,
  `CREATE UNIQUE INDEX user_account_single_owner ON user_account (role) WHERE role = 'global:owner'`,
  // For searches by the beginning of an address, in any collation of the database.
  `CREATE INDEX user_account_email_beginning ON user_account (normalized_email text_pattern_ops)`,

  // Sessions and tokens of an earlier generation are refused for good. A trigger increments it when a user is
  // disabled, so that a manual UPDATE ends access too.
  `CREATE FUNCTION user_account_disabled() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.access_generation := OLD.access_generation + 1;
    RETURN NEW;
  END $$`,
  `CREATE TRIGGER user_account_disabled BEFORE UPDATE ON user_account FOR EACH ROW
    WHEN (OLD.enabled AND NOT NEW.enabled) EXECUTE FUNCTION user_account_disabled()`,

  ...TABLES_OF_USERS.map(
    (table) => `ALTER TABLE ${table} ALTER COLUMN user_id TYPE uuid USING user_id::uuid,
      ADD FOREIGN KEY (user_id) REFERENCES user_account (id) ON DELETE CASCADE`,
  ),
];

const WORKSPACE = [
  `CREATE TABLE project (
    id uuid PRIMARY KEY,
    type text NOT NULL CHECK (type IN ('personal', 'team')),
    name text NOT NULL,
    personal_owner_id uuid UNIQUE REFERENCES user_account (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK ((type = 'personal') = (personal_owner_id IS NOT NULL))
  )`,
  // The names of team projects in an issuer's tokens.
  `CREATE TABLE project_external_key (
    issuer text NOT NULL,
    key varchar(128) NOT NULL,
    project_id uuid NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    PRIMARY KEY (issuer, key),
    UNIQUE (project_id, issuer)
  )`,
  // Users or a claim of the issuer give a membership. If both have, own_role is the role from users.
  `CREATE TABLE project_member (
    project_id uuid NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    role text NOT NULL CHECK (role IN ('project:admin', 'project:editor', 'project:viewer')),
    own_role text CHECK (own_role IN ('project:admin', 'project:editor', 'project:viewer')),
    issuer text,
    PRIMARY KEY (project_id, user_id)
  )`,
  // If a membership from a claim changes, the next token with that claim is synced again. A trigger also
  // covers deleted projects and manual statements. A sync sets the digest afterwards.
  `CREATE FUNCTION project_member_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE token_exchange_identity_link SET projects_digest = NULL
      WHERE user_id = OLD.user_id AND projects_digest IS NOT NULL;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER project_member_changed AFTER UPDATE OR DELETE ON project_member FOR EACH ROW
    WHEN (OLD.issuer IS NOT NULL) EXECUTE FUNCTION project_member_changed()`,
  // A member's projects are listed in the order of their ids.
  `CREATE INDEX project_member_user ON project_member (user_id, project_id)`,

  // json instead of jsonb: a workflow is returned as it was sent, with its members in order.
  `CREATE TABLE workflow (
    id uuid PRIMARY KEY,
    project_id uuid NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    name varchar(128) NOT NULL,
    active boolean NOT NULL DEFAULT false,
    nodes json NOT NULL,
    connections json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
  )`,
  // For lists of all workflows, and of each project, because a member may have a hundred projects. Included
  // columns serve filters and searches without reading the row.
  ...['', 'project_id, '].flatMap((project) => [
    `CREATE INDEX ON workflow (${project}updated_at, id) INCLUDE (active, name)`,
    `CREATE INDEX ON workflow (${project}(lower(name) COLLATE "C"), id) INCLUDE (active, name)`,
  ]),

  `CREATE TABLE credential (
    id uuid PRIMARY KEY,
    project_id uuid NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    name varchar(128) NOT NULL,
    type text NOT NULL,
    sealed_data bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE INDEX credential_project ON credential (project_id, id)`,
];

const OTHERS = [
  // Columns of eight bytes come first: after a variable-length column they would be padded.
  `CREATE TABLE audit_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    occurred_at timestamptz NOT NULL,
    transaction_id bigint NOT NULL DEFAULT txid_current(),
    name text NOT NULL,
    request_id text NOT NULL,
    subject_user_id uuid,
    actor_user_id uuid,
    payload jsonb NOT NULL,
    client_request_id text,
    person_hashes bytea[]
  )`,
  // Finds refusals of persons who are not users.
  `CREATE INDEX audit_event_person ON audit_event USING gin (person_hashes) WHERE person_hashes IS NOT NULL`,
  `CREATE INDEX audit_event_subject ON audit_event (subject_user_id, id)`,
  // Ends with the id, because a client may send the same request id repeatedly.
  `CREATE INDEX audit_event_request ON audit_event (request_id, id)`,
  `CREATE INDEX audit_event_client_request ON audit_event (client_request_id, id) WHERE client_request_id IS NOT NULL`,
  // The positions of the audit trail's sinks, and the index by which they read.
  `CREATE INDEX audit_event_transaction ON audit_event (transaction_id, id)`,
  `CREATE TABLE audit_sink_cursor (
    name text PRIMARY KEY,
    transaction_id bigint NOT NULL,
    event_id bigint NOT NULL,
    moved_at timestamptz NOT NULL DEFAULT now(),
    ahead_since timestamptz
  )`,

  `CREATE TABLE operator_password (
    user_id uuid PRIMARY KEY REFERENCES user_account (id) ON DELETE CASCADE,
    password_hash text,
    changed_at timestamptz,
    code_hash bytea,
    code_expires_at timestamptz
  )`,
  `CREATE TABLE operator_session (
    id uuid PRIMARY KEY,
    secret_hash bytea NOT NULL UNIQUE,
    user_id uuid NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    opened_at timestamptz NOT NULL,
    last_used_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    client_address text NOT NULL,
    access_generation bigint NOT NULL
  )`,
  `CREATE INDEX operator_session_user ON operator_session (user_id)`,
  `CREATE TABLE operator_sign_in_failure (
    key bytea PRIMARY KEY,
    failures integer NOT NULL,
    waits_until timestamptz NOT NULL,
    forgotten_at timestamptz NOT NULL
  )`,
  `CREATE INDEX operator_sign_in_failure_end ON operator_sign_in_failure (forgotten_at)`,

  // UNLOGGED: each request writes the counts, and they are worthless after a crash. Half of each page stays
  // free for new row versions, which then need no index updates.
  `CREATE UNLOGGED TABLE throttle_counter (
    key text PRIMARY KEY,
    hits integer NOT NULL,
    window_ends_at timestamptz NOT NULL
  ) WITH (fillfactor = 50)`,
  `CREATE INDEX throttle_counter_end ON throttle_counter (window_ends_at)`,
];
