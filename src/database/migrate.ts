// Brings the schema up to date, once, however many instances start at the same moment.
import type { DataSource } from 'typeorm';

/** Any number that nothing else locks: it names "the schema of this service" among a database's advisory locks. */
const MIGRATION_LOCK = 7_236_450_101;

/** Runs pending migrations. @returns the names of those that ran */
export async function runMigrations(dataSource: DataSource): Promise<string[]> {
  const applied = await dataSource.runMigrations({ transaction: 'all' });
  return applied.map(({ name }) => name);
}

/**
 * Runs pending migrations while no other instance does: whoever waits for the advisory lock finds nothing left to do.
 * @param dataSource of its own, with two connections and without time limits: one holds the lock, and a migration of
 *   a large table takes the time it takes. It is connected and closed here.
 * @returns the names of those that ran
 */
export async function runMigrationsInTurn(dataSource: DataSource): Promise<string[]> {
  await dataSource.initialize();
  const lockHolder = dataSource.createQueryRunner();
  try {
    await lockHolder.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    return await runMigrations(dataSource);
  } finally {
    await lockHolder.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await lockHolder.release();
    await dataSource.destroy();
  }
}
