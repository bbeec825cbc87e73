// The first schema: users, identity links, replay records, sessions, signing keys, workspace, audit trail.
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Initial1790000000000 implements MigrationInterface {
  readonly name = 'Initial1790000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of TABLES_LAST_FIRST) await queryRunner.query(`DROP TABLE ${table}`);
  }
}

const TABLES_LAST_FIRST = [
  'audit_event',
  'workflow',
  'project_member',
  'project',
  'signing_key',
  'web_session',
  'used_jti',
  'identity_link',
  'user_account',
];

const STATEMENTS = [
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
    updated_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE UNIQUE INDEX user_account_single_owner ON user_account (role) WHERE role = 'global:owner'`,

  `CREATE TABLE identity_link (
    issuer text NOT NULL,
    subject varchar(255) NOT NULL,
    user_id uuid NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (issuer, subject)
  )`,
  `CREATE INDEX identity_link_user ON identity_link (user_id)`,

  `CREATE TABLE used_jti (
    jti_hash bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL
  )`,
  `CREATE INDEX used_jti_expiry ON used_jti (expires_at)`,

  `CREATE TABLE web_session (
    id_hash bytea PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
  )`,
  `CREATE INDEX web_session_user ON web_session (user_id)`,
  `CREATE INDEX web_session_expiry ON web_session (expires_at)`,

  `CREATE TABLE signing_key (
    kid text PRIMARY KEY,
    public_jwk jsonb NOT NULL,
    sealed_private_key bytea NOT NULL,
    signs_from timestamptz NOT NULL,
    signs_until timestamptz NOT NULL,
    published_until timestamptz NOT NULL
  )`,

  `CREATE TABLE project (
    id uuid PRIMARY KEY,
    type text NOT NULL CHECK (type IN ('personal', 'team')),
    name text NOT NULL,
    personal_owner_id uuid UNIQUE REFERENCES user_account (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK ((type = 'personal') = (personal_owner_id IS NOT NULL))
  )`,
  `CREATE TABLE project_member (
    project_id uuid NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    role text NOT NULL CHECK (role IN ('project:admin', 'project:editor', 'project:viewer')),
    PRIMARY KEY (project_id, user_id)
  )`,
  `CREATE INDEX project_member_user ON project_member (user_id)`,

  // json, not jsonb: a workflow is returned as it was sent, with its members in their order.
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
  `CREATE INDEX workflow_project ON workflow (project_id, id)`,

  `CREATE TABLE audit_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    occurred_at timestamptz NOT NULL,
    request_id text NOT NULL,
    subject_user_id uuid,
    actor_user_id uuid,
    payload jsonb NOT NULL
  )`,
  `CREATE INDEX audit_event_subject ON audit_event (subject_user_id, id)`,
];
