// The lease beside the leader's advisory lock: one row that says until when which candidate leads.
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class LeaderLease1790000000002 implements MigrationInterface {
  readonly name = 'LeaderLease1790000000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE leader_lease (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      epoch bigint NOT NULL,
      candidate uuid NOT NULL,
      expires_at timestamptz NOT NULL
    )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE leader_lease');
  }
}
