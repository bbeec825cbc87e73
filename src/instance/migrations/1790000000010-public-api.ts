// What the public API needs: credentials, and for each filter of its lists an index that ends with the id.
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class PublicApi1790000000010 implements MigrationInterface {
  readonly name = 'PublicApi1790000000010';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UNDOING) await queryRunner.query(statement);
  }
}

const STATEMENTS = [
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

  // With the filter first and the id behind it a page's rows lie together, whatever else the table holds. `active` is
  // carried along where both filters may be given, so that no row need be fetched to tell that it does not match.
  `CREATE INDEX workflow_active ON workflow (active, id)`,
  `CREATE INDEX workflow_name ON workflow (name, id) INCLUDE (active)`,
  `CREATE INDEX workflow_project_active ON workflow (project_id, active, id)`,
  `CREATE INDEX workflow_project_name ON workflow (project_id, name, id) INCLUDE (active)`,

  // A member's projects are listed in the order of their ids.
  `DROP INDEX project_member_user`,
  `CREATE INDEX project_member_user ON project_member (user_id, project_id)`,
];

const UNDOING = [
  `DROP INDEX project_member_user`,
  `CREATE INDEX project_member_user ON project_member (user_id)`,
  `DROP INDEX workflow_project_name`,
  `DROP INDEX workflow_project_active`,
  `DROP INDEX workflow_name`,
  `DROP INDEX workflow_active`,
  `DROP TABLE credential`,
];
