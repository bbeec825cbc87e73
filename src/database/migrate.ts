// Brings the schema up to date, once, however many instances start at the same moment.
import type { DataSource } from 'typeorm';

/** Any number that nothing else locks: it names "the schema of this service" among a database's advisory locks. */
const MIGRATION_LOCK = 7_236_450_101;

/** Runs pending migrations. On PostgreSQL the instances that start together take turns by an advisory lock. */
export async function runMigrations(dataSource: DataSource, kind: 'embedded' | 'postgresql'): Promise<void> {
  if (kind === 'embedded') {
    await dataSource.runMigrations({ transaction: 'all' });
    return;
  }
  const lockHolder = dataSource.createQueryRunner();
  await lockHolder.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
  try {
    await dataSource.runMigrations({ transaction: 'all' });
  } finally {
    await lockHolder.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    await lockHolder.release();
  }
}
