// The key sets fetched from partners, shared by all instances.
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class JwksSnapshot1790000000001 implements MigrationInterface {
  readonly name = 'JwksSnapshot1790000000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(CREATE_TABLE);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE jwks_snapshot');
  }
}

// The whole URL is kept as a hash only: its query may hold a secret, and it may be longer than an index takes.
// key_set is text, not json: it is read by the same rules as a fetched one, and only there.
const CREATE_TABLE = `CREATE TABLE jwks_snapshot (
  url_hash text PRIMARY KEY,
  url text NOT NULL,
  key_set text,
  fresh_until timestamptz,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_failure_reason text,
  consecutive_failures integer NOT NULL DEFAULT 0,
  next_refresh_at timestamptz,
  last_unknown_kid_fetch_at timestamptz,
  revision integer NOT NULL DEFAULT 0
)`;
