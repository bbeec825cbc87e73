// Adds the active users of each month, the issuer that has disabled a user, and triggers and indexes for many memberships from claims.
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Instance1795900000100 implements MigrationInterface {
  readonly name = 'Instance1795900000100';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    // The triggers stay. They do the same as the earlier ones, and are dropped with their table.
    await queryRunner.query('ALTER TABLE user_account DROP COLUMN disabled_by');
    await queryRunner.query(
      'DROP INDEX project_member_claimed, project_member_administrator, user_account_enabled',
    );
    await queryRunner.query('DROP TABLE active_user');
  }
}

const STATEMENTS = [
  // The issuer by whose security event the user is disabled. Any other change of the state clears it.
  `ALTER TABLE user_account ADD COLUMN disabled_by text`,
  // If a membership from a claim changes, the next token with that claim is synced again. A trigger also notices deleted projects and
  // manual statements. A sync sets the digest afterwards. The trigger runs once per statement, because a user may have many links.
  `DROP TRIGGER project_member_changed ON project_member`,
  `CREATE OR REPLACE FUNCTION project_member_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE token_exchange_identity_link SET projects_digest = NULL
      WHERE projects_digest IS NOT NULL
        AND user_id = ANY(ARRAY(SELECT DISTINCT user_id FROM changed WHERE issuer IS NOT NULL));
    RETURN NULL;
  END $$`,
  ...['UPDATE', 'DELETE'].map(
    (change) => `CREATE TRIGGER project_member_${change.toLowerCase()} AFTER ${change} ON project_member
      REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION project_member_changed()`,
  ),
  // The time of a sync must not grow with a user's other memberships, nor with the members of a project.
  `CREATE INDEX project_member_claimed ON project_member (user_id, project_id) WHERE issuer IS NOT NULL`,
  `CREATE INDEX project_member_administrator ON project_member (project_id) WHERE role = 'project:admin'`,
  // Seats of a large issuer are counted without reading the rows of users.
  `CREATE INDEX user_account_enabled ON user_account (id) WHERE enabled`,
  // A deleted user still counts, so user_id has no foreign key.
  `CREATE TABLE active_user (
    month date NOT NULL,
    issuer text NOT NULL,
    user_id uuid NOT NULL,
    PRIMARY KEY (month, issuer, user_id)
  )`,
];
