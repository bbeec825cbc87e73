// What untrusted clients call their requests, beside the id that the service gives, and an index by which it is found.
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexBesideWriters } from './index-beside-writers.js';
import { withShortLock } from './short-lock.js';

const INDEX = 'audit_event_client_request';

/** Most requests have none. */
export class ClientRequestId1790000000210 implements MigrationInterface {
  readonly name = 'ClientRequestId1790000000210';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await withShortLock(
      queryRunner,
      'ALTER TABLE audit_event ADD COLUMN IF NOT EXISTS client_request_id text',
    );
    const definition = 'ON audit_event (client_request_id, id) WHERE client_request_id IS NOT NULL';
    await buildIndexBesideWriters(queryRunner, INDEX, definition);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE audit_event DROP COLUMN IF EXISTS client_request_id');
  }
}
