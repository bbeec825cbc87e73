// Brings the schema up to date, once, however many instances start at the same moment.
import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { isUndefinedTable } from './database-error.js';
import { StartError } from '../start-error.js';

/** Where TypeORM keeps the names of the migrations that ran. */
export const MIGRATIONS_TABLE = 'schema_migration';

/** Any number that nothing else locks: it names "the schema of this service" among a database's advisory locks. */
const MIGRATION_LOCK = 7_236_450_101;
const TRY_EVERY_MS = 200;

/**
 * Whether no migration is pending, by one question. TypeORM asks several, and to take turns needs a data source of its
 * own: most starts need neither. A migration that another instance runs at this moment is not committed, so it counts as
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
 * Runs pending migrations, each in a transaction of its own unless it says otherwise: an interrupted run continues from there.
 * @rule D100 A release serves on a database that the next one has migrated, and a restored backup has all that was in it.
 * @returns the names of those that ran
 * @throws StartError for a database of an unreleased version, which no migration converts
 */
export async function runMigrations(dataSource: DataSource): Promise<string[]> {
  await requireKnownSchema(dataSource);
  const applied = await dataSource.runMigrations();
  return applied.map(({ name }) => name);
}

/** A database is empty, or one of these migrations made it. Names that are unknown beside theirs are of a later release. */
async function requireKnownSchema(dataSource: DataSource): Promise<void> {
  const applied = await appliedMigrations(dataSource);
  if (applied.size === 0 || namesOf(dataSource).some((name) => applied.has(name))) return;
  throw new StartError(
    'The database was made by an unreleased version of this service, which no migration converts: start on an empty database.',
  );
}

/**
 * Runs pending migrations while no other instance does: the next one to get the advisory lock finds nothing left to do.
 * @param dataSource of its own, with two connections and without time limits: one holds the lock, and a migration of
 *   a large table takes the time it takes. It is connected and closed here.
 * @returns the names of those that ran
 * @throws StartError for a database of an unreleased version
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
 * Polls, because CREATE INDEX CONCURRENTLY waits for every statement that began before it, and a statement that waits for
 * this lock would be one.
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
