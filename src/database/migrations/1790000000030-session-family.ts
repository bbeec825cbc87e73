// The families of sessions: logins of one user in one browser, of which each carried the cookie of the one before.
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Each session that is there becomes a family of its own. The default stays for instances of the release before, which
 * open sessions while the others are being updated; it is no gen_random_uuid(), which PostgreSQL 12 does not have.
 */
export class SessionFamily1790000000030 implements MigrationInterface {
  readonly name = 'SessionFamily1790000000030';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE web_session ADD COLUMN family_id uuid NOT NULL
       DEFAULT md5(random()::text || random()::text || clock_timestamp()::text)::uuid`,
    );
    await queryRunner.query('CREATE INDEX web_session_family ON web_session (family_id)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX web_session_family');
    await queryRunner.query('ALTER TABLE web_session DROP COLUMN family_id');
  }
}
