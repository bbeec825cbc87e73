// The generation of a user's access: what was issued under an earlier one is refused for good.
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A trigger raises it where a user is disabled, so that an UPDATE by hand ends access for good as well. */
export class AccessGeneration1790000000150 implements MigrationInterface {
  readonly name = 'AccessGeneration1790000000150';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER user_account_disabled ON user_account');
    await queryRunner.query('DROP FUNCTION user_account_disabled');
    await queryRunner.query('ALTER TABLE user_account DROP COLUMN access_generation');
  }
}

const STATEMENTS = [
  'ALTER TABLE user_account ADD COLUMN access_generation bigint NOT NULL DEFAULT 0',
  `CREATE FUNCTION user_account_disabled() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.access_generation := OLD.access_generation + 1;
    RETURN NEW;
  END $$`,
  `CREATE TRIGGER user_account_disabled BEFORE UPDATE ON user_account FOR EACH ROW
    WHEN (OLD.enabled AND NOT NEW.enabled) EXECUTE FUNCTION user_account_disabled()`,
];
