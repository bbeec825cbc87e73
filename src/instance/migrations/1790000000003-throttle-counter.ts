// The request counts that instances share. UNLOGGED: they are written at every request and worth nothing after a crash.
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ThrottleCounter1790000000003 implements MigrationInterface {
  readonly name = 'ThrottleCounter1790000000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    // Half of each page stays free for new versions of its rows, which then need no change to the indexes.
    await queryRunner.query(`CREATE UNLOGGED TABLE throttle_counter (
      key text PRIMARY KEY,
      hits integer NOT NULL,
      window_ends_at timestamptz NOT NULL
    ) WITH (fillfactor = 50)`);
    await queryRunner.query('CREATE INDEX throttle_counter_end ON throttle_counter (window_ends_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE throttle_counter');
  }
}
