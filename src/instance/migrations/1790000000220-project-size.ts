// How much the workflows and credentials of each project take in the database, kept by the database itself.
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** By what the database stores, so that nothing large is read for it: what is compressed counts as such. */
const STORED: Readonly<Record<string, string>> = {
  workflow: 'pg_column_size(nodes) + pg_column_size(connections)',
  credential: 'pg_column_size(sealed_data)',
};
const COUNTED = Object.keys(STORED);

/**
 * Triggers, since deletions cascade, and the release before writes as well. Of a statement they write one row for each project at
 * most, behind the rows that the statement itself has locked, so that nobody waits in a ring.
 */
export class ProjectSize1790000000220 implements MigrationInterface {
  readonly name = 'ProjectSize1790000000220';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE project_size (
      project_id uuid PRIMARY KEY REFERENCES project (id) ON DELETE CASCADE,
      bytes bigint NOT NULL
    )`);
    // Until the end of the migration: what is written beside it would be counted twice, or never.
    await queryRunner.query(`LOCK TABLE ${COUNTED.join(', ')} IN SHARE ROW EXCLUSIVE MODE`);
    await queryRunner.query(`INSERT INTO project_size (project_id, bytes) SELECT project_id, sum(bytes) FROM (
      ${COUNTED.map((table) => `SELECT project_id, ${STORED[table]} AS bytes FROM ${table}`).join(' UNION ALL ')}
    ) stored GROUP BY project_id`);
    for (const table of COUNTED) for (const statement of counting(table)) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of COUNTED) {
      for (const event of ['insert', 'update', 'delete'])
        await queryRunner.query(`DROP TRIGGER ${table}_bytes_${event} ON ${table}`);
      await queryRunner.query(`DROP FUNCTION count_${table}_bytes`);
    }
    await queryRunner.query('DROP TABLE project_size');
  }
}

/**
 * What a statement has written is read from the table: before it is stored, it is not compressed. By its key for each row, which LIMIT 1
 * keeps PostgreSQL to.
 */
function counting(table: string): string[] {
  const added = `SELECT stored.* FROM added CROSS JOIN LATERAL (
    SELECT project_id, ${STORED[table]} AS bytes FROM ${table} WHERE ${table}.id = added.id LIMIT 1
  ) stored`;
  const removed = `SELECT project_id, -(${STORED[table]}) AS bytes FROM removed`;
  const sums = (rows: string) =>
    `SELECT project_id, sum(bytes)::bigint AS bytes FROM (${rows}) written GROUP BY project_id HAVING sum(bytes) <> 0`;
  const change = (rows: string) =>
    `UPDATE project_size size SET bytes = size.bytes + change.bytes FROM (${sums(rows)}) change
      WHERE size.project_id = change.project_id`;
  const [oldRows, newRows] = ['OLD TABLE AS removed', 'NEW TABLE AS added'];
  const trigger = (event: string, tables: string) =>
    `CREATE TRIGGER ${table}_bytes_${event} AFTER ${event} ON ${table} REFERENCING ${tables}
      FOR EACH STATEMENT EXECUTE FUNCTION count_${table}_bytes()`;
  return [
    `CREATE FUNCTION count_${table}_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        INSERT INTO project_size AS size (project_id, bytes) ${sums(added)}
        ON CONFLICT (project_id) DO UPDATE SET bytes = size.bytes + excluded.bytes;
      ELSIF TG_OP = 'UPDATE' THEN
        ${change(`${added} UNION ALL ${removed}`)};
      ELSE
        ${change(removed)};
      END IF;
      RETURN NULL;
    END $$`,
    trigger('insert', newRows),
    trigger('update', `${oldRows} ${newRows}`),
    trigger('delete', oldRows),
  ];
}
