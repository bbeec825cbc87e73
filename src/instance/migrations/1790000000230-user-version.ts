// The version of a user: another one after every write, so that what was decided on a user counts only while it stands.
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Random, by a trigger: a write by hand changes it as well, and no value comes again after a restore, as that of a counter would. */
export class UserVersion1790000000230 implements MigrationInterface {
  readonly name = 'UserVersion1790000000230';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER user_account_version ON user_account');
    await queryRunner.query('DROP FUNCTION user_account_version');
    await queryRunner.query('ALTER TABLE user_account DROP COLUMN version');
  }
}

const RANDOM = 'hashtextextended(gen_random_uuid()::text, 0)';

const STATEMENTS = [
  `ALTER TABLE user_account ADD COLUMN version bigint NOT NULL DEFAULT ${RANDOM}`,
  `CREATE FUNCTION user_account_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.version := ${RANDOM};
    RETURN NEW;
  END $$`,
  `CREATE TRIGGER user_account_version BEFORE INSERT OR UPDATE ON user_account FOR EACH ROW
    EXECUTE FUNCTION user_account_version()`,
];
