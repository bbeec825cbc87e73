// Up to which expiry replay records were deleted: a token from before is refused, since nobody knows whether it was used.
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { MIGRATION_LOCK } from './migration-lock.js';

/** Beside it the release before goes on: its purge does not move the horizon, and its exchanges do not read it. */
export class TokenExchange1790000000130 implements MigrationInterface {
  readonly name = 'TokenExchange1790000000130';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    for (const statements of Object.values(REPLAY_HORIZON_TABLES))
      for (const statement of statements) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of Object.keys(REPLAY_HORIZON_TABLES)) await queryRunner.query(`DROP TABLE ${table}`);
  }
}

/** Each table with the statements that make it. */
export const REPLAY_HORIZON_TABLES: Readonly<Record<string, readonly string[]>> = {
  // Without a row nothing was ever deleted.
  token_exchange_replay_horizon: [
    `CREATE TABLE IF NOT EXISTS token_exchange_replay_horizon (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      purged_until timestamptz NOT NULL
    )`,
  ],
};
