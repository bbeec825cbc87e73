// What errors of the database mean: what it has refused, and that it cannot serve now.
import {
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const DEADLOCK_DETECTED = '40P01';
const UNDEFINED_TABLE = '42P01';
const PERMISSION_DENIED = '42501';
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

/** Whether a statement failed because the role lacks a right. */
export function isPermissionDenied(error: unknown): boolean {
  return sqlStateOf(error) === PERMISSION_DENIED;
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

/** Why the database cannot serve: fixed words, for the log. */
export type Unavailability =
  | 'connection_lost'
  | 'pool_exhausted'
  | 'time_limit'
  | 'read_only'
  | 'out_of_resources'
  | 'contention'
  | 'not_replicated';

/** A statement, or a request, was not waited for any longer; or a commit is not where it has to be. It may have happened. */
export class DatabaseWaitError extends Error {
  constructor(readonly why: Unavailability) {
    super(`the database did not serve in time (${why})`);
    this.name = 'DatabaseWaitError';
  }
}

/** SQLSTATE, whole or by its class. */
const STATES: Readonly<Record<string, Unavailability>> = {
  '08': 'connection_lost',
  // While it serves: a server that has taken over does not know the address, or the password was changed.
  '28': 'connection_lost',
  '3D000': 'connection_lost',
  '57P01': 'connection_lost',
  '57P02': 'connection_lost',
  '57P03': 'connection_lost',
  '57P04': 'connection_lost',
  '57P05': 'connection_lost',
  '25P03': 'connection_lost',
  '53300': 'pool_exhausted',
  '57014': 'time_limit',
  '55P03': 'time_limit',
  '25P04': 'time_limit',
  '25006': 'read_only',
  '53': 'out_of_resources',
  '58': 'out_of_resources',
  '40001': 'contention',
  '40P01': 'contention',
};

/** Of the system, when it connects, reads or writes. */
const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
  'ENOENT',
]);
const CONNECTION_CALLS = new Set(['connect', 'read', 'write', 'getaddrinfo']);
/** Of Node and OpenSSL, when TLS begins: a certificate that does not hold, or a server that speaks something else. */
const TLS_CODES = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_)/;

/** What pg and its pool say without any code. */
const DRIVER_MESSAGES: Readonly<Record<string, Unavailability>> = {
  'Connection terminated': 'connection_lost',
  'Connection terminated unexpectedly': 'connection_lost',
  'Connection terminated due to connection timeout': 'time_limit',
  'Client has encountered a connection error and is not queryable': 'connection_lost',
  'Client was closed and is not queryable': 'connection_lost',
  'Cannot use a pool after calling end on the pool': 'connection_lost',
  'The server does not support SSL connections': 'connection_lost',
  'timeout expired': 'time_limit',
  'Query read timeout': 'time_limit',
  'timeout exceeded when trying to connect': 'pool_exhausted',
};

/**
 * Why the database could not serve; undefined for every other error, such as one of a constraint or of the statement itself.
 * See http/database-outages.ts for what becomes of it (D49), wait-limit.ts for how long it is waited for.
 */
export function unavailabilityOf(error: unknown): Unavailability | undefined {
  // The connection broke between two statements of a transaction, and TypeORM has given it back. A manager has an error of its own for it.
  if (
    error instanceof QueryRunnerAlreadyReleasedError ||
    error instanceof QueryRunnerProviderAlreadyReleasedError
  )
    return 'connection_lost';
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  if (cause instanceof DatabaseWaitError) return cause.why;
  if (typeof cause !== 'object' || cause === null) return undefined;
  const { code, message = '' } = cause as Partial<NodeJS.ErrnoException>;
  if (typeof code !== 'string') return DRIVER_MESSAGES[message];
  if (isOfConnection(cause)) return 'connection_lost';
  return STATES[code] ?? (code.length === 5 ? STATES[code.slice(0, 2)] : undefined);
}

/** A name with several addresses fails with the errors of all of them. */
function isOfConnection(error: Partial<NodeJS.ErrnoException & AggregateError>): boolean {
  const { errors, code = '', syscall = '' } = error;
  if (Array.isArray(errors)) return errors.some((each) => isOfConnection(each as Error));
  // One that is cut while TLS begins names no call.
  if (TLS_CODES.test(code) || (code === 'ECONNRESET' && syscall === '')) return true;
  return SYSTEM_CODES.has(code) && CONNECTION_CALLS.has(syscall);
}
