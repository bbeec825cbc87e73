// The families of sessions: logins of one user in one browser, of which each carried the cookie of the one before.
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Each session that is there becomes a family of its own. The default stays for instances of the release before, which
 * open sessions while the others are being updated. PostgreSQL 12 has no gen_random_uuid(), and not every server md5().
 */
export class SessionFamily1790000000030 implements MigrationInterface {
  readonly name = 'SessionFamily1790000000030';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE web_session ADD COLUMN family_id uuid NOT NULL
       DEFAULT encode(substring(sha256((random()::text || random() || clock_timestamp())::bytea) FOR 16), 'hex')::uuid`,
    );
    await queryRunner.query('CREATE INDEX web_session_family ON web_session (family_id)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX web_session_family');
    await queryRunner.query('ALTER TABLE web_session DROP COLUMN family_id');
  }
}
