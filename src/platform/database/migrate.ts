// Brings the schema up to date exactly once, even if many instances start at the same moment.
import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { StartError } from '../start-error.js';
import { isUndefinedTable } from './database-error.js';

/** TypeORM's table with the names of the applied migrations. */
export const MIGRATIONS_TABLE = 'schema_migration';

/** An arbitrary key for the advisory lock on this service's schema. */
const MIGRATION_LOCK = 7_236_450_101;
const TRY_EVERY_MS = 200;

/**
 * Whether no migration is pending. Most starts need only this one query, instead of TypeORM's several queries
 * and the lock's own data source. A migration that another instance is running is not committed, so it is
 * pending.
 */
export async function isUpToDate(dataSource: DataSource): Promise<boolean> {
  const applied = await appliedMigrations(dataSource);
  return namesOf(dataSource).every((name) => applied.has(name));
}

function namesOf({ migrations }: DataSource): string[] {
  return migrations.map(({ name, constructor }) => name ?? constructor.name);
}

async function appliedMigrations(dataSource: DataSource): Promise<ReadonlySet<string>> {
  try {
    const rows = await dataSource.query<{ name: string }[]>(`SELECT name FROM ${MIGRATIONS_TABLE}`);
    return new Set(rows.map(({ name }) => name));
  } catch (error) {
    if (isUndefinedTable(error)) return new Set();
    throw error;
  }
}

/**
 * Runs pending migrations, each in its own transaction unless it says otherwise. After an interruption the
 * next run continues. Each release also works with the schema of the next release.
 * @returns the names of the migrations that ran
 * @throws StartError if the database is of an unreleased version, which no migration converts
 */
export async function runMigrations(dataSource: DataSource): Promise<string[]> {
  await requireKnownSchema(dataSource);
  const applied = await dataSource.runMigrations();
  return applied.map(({ name }) => name);
}

/**
 * Accepts an empty database, or one with at least one of these migrations. Other migrations in it belong to a
 * later release.
 */
async function requireKnownSchema(dataSource: DataSource): Promise<void> {
  const applied = await appliedMigrations(dataSource);
  if (applied.size === 0 || namesOf(dataSource).some((name) => applied.has(name))) return;
  throw new StartError(
    'The database was created by an unreleased version of this service, which no migration converts. Start with an empty database.',
  );
}

/**
 * Runs pending migrations under an advisory lock. An instance that waited for the lock finds nothing left to
 * do.
 * @param dataSource for this call only, with two connections and no time limits: one holds the lock, and a
 * migration of a large table may take long. It is connected and closed here.
 * @returns the names of the migrations that ran
 * @throws StartError if the database is of an unreleased version
 */
export async function runMigrationsInTurn(dataSource: DataSource): Promise<string[]> {
  await dataSource.initialize();
  const lockHolder = dataSource.createQueryRunner();
  try {
    await takeLock(lockHolder);
    return await runMigrations(dataSource);
  } finally {
    await lockHolder.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await lockHolder.release();
    await dataSource.destroy();
  }
}

/**
 * Polls for the lock. CREATE INDEX CONCURRENTLY waits for all earlier statements, and a statement that waits
 * for this lock would be one of them.
 */
async function takeLock(queryRunner: QueryRunner): Promise<void> {
  for (;;) {
    const [answer] = (await queryRunner.query('SELECT pg_try_advisory_lock($1) AS "isTaken"', [
      MIGRATION_LOCK,
    ])) as { isTaken: boolean }[];
    if (answer?.isTaken === true) return;
    await pause(TRY_EVERY_MS);
  }
}
