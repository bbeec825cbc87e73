// Makes the epoch of the leader's lease a key: who takes the lease over waits for statements that hold it, renewals do not.
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { MIGRATION_LOCK } from './migration-lock.js';

/**
 * A statement of the leader's locks the lease FOR KEY SHARE. That lets changes of other columns pass, as a renewal is one, and
 * stops those of columns with a unique index: of the epoch, by whichever release the leadership is taken.
 */
export class TokenExchange1790000000120 implements MigrationInterface {
  readonly name = 'TokenExchange1790000000120';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await queryRunner.query(
      'CREATE UNIQUE INDEX IF NOT EXISTS token_exchange_leader_lease_epoch ON token_exchange_leader_lease (epoch)',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX IF EXISTS token_exchange_leader_lease_epoch');
  }
}
