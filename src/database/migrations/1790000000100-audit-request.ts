// An index by which the events of one request are found in a trail of any length.
import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEX = 'audit_event_request';

/**
 * Built beside the instances that go on writing, so it cannot be in a transaction: what was cut off leaves an index that is
 * kept up and never used, which the next try takes away first. It ends with the id, since a client may send one request id
 * again and again: its events are still read page by page.
 */
export class AuditRequest1790000000100 implements MigrationInterface {
  readonly name = 'AuditRequest1790000000100';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    const [found] = (await queryRunner.query(
      'SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass($1)',
      [INDEX],
    )) as { isValid: boolean }[];
    if (found?.isValid === true) return;
    if (found !== undefined) await queryRunner.query(`DROP INDEX CONCURRENTLY ${INDEX}`);
    await queryRunner.query(`CREATE INDEX CONCURRENTLY ${INDEX} ON audit_event (request_id, id)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX IF EXISTS ${INDEX}`);
  }
}
