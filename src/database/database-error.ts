// Recognises what the database refused, by SQLSTATE.
import { QueryFailedError } from 'typeorm';

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const DEADLOCK_DETECTED = '40P01';

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

function sqlStateOf(error: unknown): unknown {
  return error instanceof QueryFailedError ? (error.driverError as { code?: unknown }).code : undefined;
}
