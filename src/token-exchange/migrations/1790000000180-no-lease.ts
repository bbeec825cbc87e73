// The leader is who holds an advisory lock: the table of its lease goes.
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { TABLES } from './1790000000050-token-exchange.js';
import { MIGRATION_LOCK } from './migration-lock.js';

export const LEASE_TABLE = 'token_exchange_leader_lease';

export class TokenExchange1790000000180 implements MigrationInterface {
  readonly name = 'TokenExchange1790000000180';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await queryRunner.query(`DROP TABLE IF EXISTS ${LEASE_TABLE}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of TABLES[LEASE_TABLE] ?? []) await queryRunner.query(statement);
  }
}
