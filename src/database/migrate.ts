// Brings the schema up to date, once, however many instances start at the same moment.
import pg from 'pg';
import type { DataSource } from 'typeorm';

/** Any number that nothing else locks: it names "the schema of this service" among a database's advisory locks. */
const MIGRATION_LOCK = 7_236_450_101;

/** Runs pending migrations. @returns the names of those that ran */
export async function runMigrations(dataSource: DataSource): Promise<string[]> {
  const applied = await dataSource.runMigrations({ transaction: 'all' });
  return applied.map(({ name }) => name);
}

/**
 * Runs pending migrations while no other instance does. The advisory lock is held by a connection of its own: the pool
 * may have only one, which the migrations need. When the process dies the database frees the lock.
 * @returns the names of those that ran
 */
export async function runMigrationsInTurn(dataSource: DataSource, databaseUrl: string): Promise<string[]> {
  const lockHolder = new pg.Client({ connectionString: databaseUrl });
  await lockHolder.connect();
  try {
    await lockHolder.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    return await runMigrations(dataSource);
  } finally {
    await lockHolder.end();
  }
}
