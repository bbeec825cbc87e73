// The origin that a session was opened from: the only one that the page in the frame sends messages to.
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SessionOrigin1790000000020 implements MigrationInterface {
  readonly name = 'SessionOrigin1790000000020';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE web_session ADD COLUMN login_origin text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE web_session DROP COLUMN login_origin');
  }
}
