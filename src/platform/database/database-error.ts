// Recognises what the database refused, by SQLSTATE.
import { QueryFailedError } from 'typeorm';

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const DEADLOCK_DETECTED = '40P01';
const UNDEFINED_TABLE = '42P01';
/** SQLSTATE classes: data exception, integrity constraint violation. */
const FAULTS_OF_ROWS = ['22', '23'];
/** Of rows, lost races, and what the server has ended itself: a statement, or its wait for a lock. */
const ANSWERS = /^(?:2[23]|40|57014$|55P03$)/;

/** Whether a statement failed because a unique constraint holds that value already. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlStateOf(error) === UNIQUE_VIOLATION;
}

/** Whether a statement failed because the row that it refers to is not there (any more). */
export function isForeignKeyViolation(error: unknown): boolean {
  return sqlStateOf(error) === FOREIGN_KEY_VIOLATION;
}

/** Whether a statement failed because two transactions waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return sqlStateOf(error) === DEADLOCK_DETECTED;
}

/** Whether a statement failed because there is no such table. */
export function isUndefinedTable(error: unknown): boolean {
  return sqlStateOf(error) === UNDEFINED_TABLE;
}

/** Whether a statement failed by what stands in one of its rows; the same statement without that row may succeed. */
export function isFaultOfOneRow(error: unknown): boolean {
  return FAULTS_OF_ROWS.includes(sqlStateOf(error)?.slice(0, 2) ?? '');
}

/** Whether the connection can be used on after a statement has failed so. After silence its state is unknown. */
export function keepsConnection(error: unknown): boolean {
  return ANSWERS.test(sqlStateOf(error) ?? '');
}

/** Statements that go past TypeORM fail with the driver's own error. */
function sqlStateOf(error: unknown): string | undefined {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
