// Sessions record the generation of their user's access, which takes the place of the times of sign-outs.
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { REVOCATION_TABLES } from './1790000000070-token-exchange-revocation.js';
import { MIGRATION_LOCK } from './migration-lock.js';

const SIGN_OUTS = 'token_exchange_user_sign_out';

/** Text, as the host writes it. Sessions from before have none: a host that has generations refuses them. */
export class TokenExchange1790000000160 implements MigrationInterface {
  readonly name = 'TokenExchange1790000000160';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await queryRunner.query(
      'ALTER TABLE token_exchange_session ADD COLUMN IF NOT EXISTS access_generation text',
    );
    await queryRunner.query(`DROP TABLE IF EXISTS ${SIGN_OUTS}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of REVOCATION_TABLES[SIGN_OUTS] ?? []) await queryRunner.query(statement);
    await queryRunner.query('ALTER TABLE token_exchange_session DROP COLUMN access_generation');
  }
}
