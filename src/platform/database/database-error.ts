// Classifies database errors: failures of one statement, and failures that mean that the database is unavailable.
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
const ROW_ERROR_CLASSES = ['22', '23'];
/** Bad rows, lost races, and statements or lock waits that the server has ended. */
const STATEMENT_ERRORS = /^(?:2[23]|40|57014$|55P03$)/;

/** Whether a statement failed because it violates a unique constraint. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlStateOf(error) === UNIQUE_VIOLATION;
}

/** Whether a statement failed because the row that it refers to does not exist (any more). */
export function isForeignKeyViolation(error: unknown): boolean {
  return sqlStateOf(error) === FOREIGN_KEY_VIOLATION;
}

/** Whether a statement failed because two transactions waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return sqlStateOf(error) === DEADLOCK_DETECTED;
}

/** Whether a statement failed because the table does not exist. */
export function isUndefinedTable(error: unknown): boolean {
  return sqlStateOf(error) === UNDEFINED_TABLE;
}

/** Whether a statement failed because the role lacks a right. */
export function isPermissionDenied(error: unknown): boolean {
  return sqlStateOf(error) === PERMISSION_DENIED;
}

/** Whether one of the rows made the statement fail; without that row it may succeed. */
export function isRowError(error: unknown): boolean {
  return ROW_ERROR_CLASSES.includes(sqlStateOf(error)?.slice(0, 2) ?? '');
}

/** Whether the connection is still usable after this error. After a timeout its state is unknown. */
export function keepsConnection(error: unknown): boolean {
  return STATEMENT_ERRORS.test(sqlStateOf(error) ?? '');
}

/** Statements that bypass TypeORM fail with the driver's own error. */
function sqlStateOf(error: unknown): string | undefined {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Why the database is unavailable: fixed strings, for the log. */
export type Unavailability =
  | 'connection_lost'
  | 'pool_exhausted'
  | 'time_limit'
  | 'read_only'
  | 'out_of_resources'
  | 'contention'
  | 'not_replicated';

/** A statement or a request took too long, or a commit was not replicated. The write may have happened. */
export class DatabaseWaitError extends Error {
  constructor(readonly why: Unavailability) {
    super(`the database did not respond in time (${why})`);
    this.name = 'DatabaseWaitError';
  }
}

/** By SQLSTATE, or by its class. */
const STATES: Readonly<Record<string, Unavailability>> = {
  '08': 'connection_lost',
  // At run time this means a failover to a server that does not know the address, or a changed password.
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

/** Errors of the system when it connects, reads or writes. */
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
/**
 * Errors of Node.js and OpenSSL during the TLS handshake: an invalid certificate, or a server that does not
 * speak TLS.
 */
const TLS_CODES = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_)/;

/** Errors of pg and its pool that have no code. */
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
 * Why the database is unavailable; undefined for every other error, such as a violated constraint. See
 * http/database-outages.ts for the responses (D49), and wait-limit.ts for the time limits.
 */
export function unavailabilityOf(error: unknown): Unavailability | undefined {
  // The connection broke between two statements of a transaction, and TypeORM has released it. Query runner and
  // entity manager throw different errors then.
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
  if (isConnectionError(cause)) return 'connection_lost';
  return STATES[code] ?? (code.length === 5 ? STATES[code.slice(0, 2)] : undefined);
}

/** A host name with several addresses fails with an AggregateError of all attempts. */
function isConnectionError(error: Partial<NodeJS.ErrnoException & AggregateError>): boolean {
  const { errors, code = '', syscall = '' } = error;
  if (Array.isArray(errors)) return errors.some((each) => isConnectionError(each as Error));
  // The error of a connection that is cut during the TLS handshake has no `syscall`.
  if (TLS_CODES.test(code) || (code === 'ECONNRESET' && syscall === '')) return true;
  return SYSTEM_CODES.has(code) && CONNECTION_CALLS.has(syscall);
}
