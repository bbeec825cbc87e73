// What sinks of the audit trail need: which transaction wrote an event, in what order to read them, and how far each sink is.
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexBesideWriters } from './index-beside-writers.js';
import { withShortLock } from './short-lock.js';

const INDEX = 'audit_event_transaction';

/**
 * The column is added without a default first: so the table is not written anew, and rows from before have none. Whoever writes
 * later, instances of the release before among them, leaves it to the default. The index holds what is written from now on. Each
 * statement can be run again, since they are in no transaction: the index is built while others write, and a dump that has the table open is waited for without
 * holding those up.
 */
export class AuditStreaming1790000000110 implements MigrationInterface {
  readonly name = 'AuditStreaming1790000000110';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await withShortLock(queryRunner, statement);
    const definition = 'ON audit_event (transaction_id, id) WHERE transaction_id IS NOT NULL';
    await buildIndexBesideWriters(queryRunner, INDEX, definition);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UNDOING) await queryRunner.query(statement);
  }
}

const STATEMENTS = [
  `ALTER TABLE audit_event ADD COLUMN IF NOT EXISTS transaction_id bigint`,
  // PostgreSQL 12 has this function, and not yet its successor pg_current_xact_id.
  `ALTER TABLE audit_event ALTER COLUMN transaction_id SET DEFAULT txid_current()`,
  `CREATE TABLE IF NOT EXISTS audit_sink_cursor (
    name text PRIMARY KEY,
    transaction_id bigint NOT NULL,
    event_id bigint NOT NULL,
    moved_at timestamptz NOT NULL DEFAULT now(),
    ahead_since timestamptz
  )`,
];

const UNDOING = [
  `DROP TABLE IF EXISTS audit_sink_cursor`,
  `DROP INDEX IF EXISTS ${INDEX}`,
  `ALTER TABLE audit_event DROP COLUMN IF EXISTS transaction_id`,
];
