// The view by which the first release found the table of the leader's lease goes before the table does.
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class NoLeaseView1790000000170 implements MigrationInterface {
  readonly name = 'NoLeaseView1790000000170';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP VIEW IF EXISTS leader_lease');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE VIEW leader_lease AS SELECT * FROM token_exchange_leader_lease');
  }
}
