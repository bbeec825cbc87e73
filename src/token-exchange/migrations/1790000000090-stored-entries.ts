// Trusted key entries that commands have made, beside those of the configuration.
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { MIGRATION_LOCK } from './migration-lock.js';

/** Beside it the release before goes on: it knows of configured entries only. */
export class TokenExchange1790000000090 implements MigrationInterface {
  readonly name = 'TokenExchange1790000000090';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    for (const statements of Object.values(STORED_ENTRY_TABLES))
      for (const statement of statements) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of Object.keys(STORED_ENTRY_TABLES)) await queryRunner.query(`DROP TABLE ${table}`);
  }
}

/** Each table with the statements that make it. */
export const STORED_ENTRY_TABLES: Readonly<Record<string, readonly string[]>> = {
  // entry is text, not json: it is read by the same rules as a configured one, and only there.
  // A change takes the next revision. Changes take turns, so that none is committed after a later one.
  token_exchange_stored_entry: [
    `CREATE TABLE IF NOT EXISTS token_exchange_stored_entry (
      name text PRIMARY KEY,
      entry text NOT NULL,
      suspended_at timestamptz,
      created_at timestamptz NOT NULL,
      changed_at timestamptz NOT NULL,
      revision bigint GENERATED ALWAYS AS IDENTITY
    )`,
  ],
};
