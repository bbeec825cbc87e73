// Builds an index of a long table while instances of the release before go on writing to it.
import type { QueryRunner } from 'typeorm';

/**
 * Not in a transaction: the migration says `transaction = false`. What was cut off leaves an index that is kept up and never used;
 * the next try takes it away first.
 * @param definition what follows the index's name in CREATE INDEX
 */
export async function buildIndexBesideWriters(
  queryRunner: QueryRunner,
  name: string,
  definition: string,
): Promise<void> {
  const [found] = (await queryRunner.query(
    'SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass($1)',
    [name],
  )) as { isValid: boolean }[];
  if (found?.isValid === true) return;
  if (found !== undefined) await queryRunner.query(`DROP INDEX CONCURRENTLY ${name}`);
  await queryRunner.query(`CREATE INDEX CONCURRENTLY ${name} ${definition}`);
}
