// An index by which the events of one request are found in a trail of any length.
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexBesideWriters } from './index-beside-writers.js';

const INDEX = 'audit_event_request';

/** It ends with the id, since a client may send one request id again and again: its events are still read page by page. */
export class AuditRequest1790000000100 implements MigrationInterface {
  readonly name = 'AuditRequest1790000000100';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await buildIndexBesideWriters(queryRunner, INDEX, 'ON audit_event (request_id, id)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX IF EXISTS ${INDEX}`);
  }
}
