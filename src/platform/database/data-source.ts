// Opens the database, embedded or PostgreSQL, behind one TypeORM data source.
import type { DataSource } from 'typeorm';
import { StartError } from '../start-error.js';
import { unavailabilityOf } from './database-error.js';
import type { EmbeddedSettings } from './embedded-database.js';
import { prepareEmbedded } from './embedded-database.js';
import { isUpToDate } from './migrate.js';
import { directoryError, requireRights, rightsError } from './opening-error.js';
import { requireSessions } from './pooler.js';
import type { PostgresqlSettings } from './postgresql-pools.js';
import { preparePostgresql } from './postgresql-pools.js';
import type { PreparedDatabase, Schema } from './prepared-database.js';

export type { PreparedDatabase, Schema } from './prepared-database.js';

/** Which database to open. */
export type DatabaseSettings =
  ({ kind: 'postgresql' } & PostgresqlSettings) | ({ kind: 'embedded' } & EmbeddedSettings);

/** Injection token of the settings of the open database. */
export const DATABASE_SETTINGS = Symbol('DATABASE_SETTINGS');

/** Injection token of the `OpenDatabase`. */
export const OPEN_DATABASE = Symbol('OPEN_DATABASE');

/** The error for a failed connection. Its message has the cause and its code, and no part of the URL. */
function unreachable(cause: unknown): StartError {
  return new StartError(
    `The database cannot be reached: ${connectionFailure(cause)}. Check the URL (SVC_DATABASE_URL) and the server.`,
  );
}

/** An open database with an up-to-date schema. */
export interface OpenDatabase extends Pick<
  PreparedDatabase,
  'kind' | 'dataSource' | 'operatorPool' | 'close' | 'stopped'
> {
  /** The names of the migrations that ran when it was opened; empty if the schema was up to date. */
  readonly appliedMigrations: readonly string[];
}

/**
 * Opens the database and brings its schema up to date.
 * @throws DataDirectoryLockedError if another process uses the embedded directory
 * @throws StartError if it cannot be reached, the data directory cannot be written, the role lacks a right,
 * or the caller may not migrate
 * @throws StartError if it is too old or of an unreleased version, or if a pooler lends connections for
 * single transactions
 */
export async function openDatabase(settings: DatabaseSettings, schema: Schema): Promise<OpenDatabase> {
  const prepared = await prepareDatabase(settings, schema);
  const { kind, dataSource, operatorPool, migrate, close, stopped } = prepared;
  try {
    await checkSessions(settings);
    await connect(dataSource);
    if (kind === 'postgresql') await requireRights(dataSource);
    const isCurrent = await isUpToDate(dataSource);
    if (!isCurrent && schema.mayMigrate === false)
      throw new StartError(
        'The database is empty or of an earlier release. The next start of the service migrates it.',
      );
    const appliedMigrations = isCurrent ? [] : await migrate();
    return { kind, dataSource, operatorPool, appliedMigrations, close, stopped };
  } catch (error) {
    await close();
    throw settings.kind === 'embedded' ? directoryError(settings.directory, error) : rightsError(error);
  }
}

/**
 * Prepares the data source without connecting, for openDatabase and TypeORM's command line.
 * @throws DataDirectoryLockedError if another process uses the embedded directory
 */
export function prepareDatabase(settings: DatabaseSettings, schema: Schema): Promise<PreparedDatabase> {
  return settings.kind === 'postgresql'
    ? Promise.resolve(preparePostgresql(settings, schema))
    : prepareEmbedded(settings, schema);
}

async function connect(dataSource: DataSource): Promise<void> {
  try {
    await dataSource.initialize();
  } catch (error) {
    throw unreachable(error);
  }
}

/** On an old server, or behind a pooler that keeps no sessions, statements would fail later. */
async function checkSessions(settings: DatabaseSettings): Promise<void> {
  if (settings.kind === 'embedded') return;
  try {
    await requireSessions({ connectionString: settings.url });
  } catch (error) {
    throw error instanceof StartError ? error : unreachable(error);
  }
}

const UNKNOWN_ISSUER =
  'the certificate of the server is not from a trusted authority; set sslrootcert in the URL to the file of the authority';

/** Causes by SQLSTATE or by the system's error code. */
const FAILURES: Readonly<Record<string, string>> = {
  '28P01': 'wrong password, or no such role',
  '28000': 'no such role, or pg_hba.conf does not let it connect',
  '3D000': 'no such database',
  '42501': 'the role may not connect to the database; run GRANT CONNECT ON DATABASE',
  '53300':
    'no connection is left: raise max_connections of the server or the limit of the role, or lower SVC_DATABASE_POOL_SIZE',
  '57P03': 'the server is starting or stopping',
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_ISSUER,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  CERT_HAS_EXPIRED: 'the certificate of the server has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the server is for another host name',
  ECONNREFUSED: 'connection refused: no server listens at this address',
  ECONNRESET: 'the server closed the connection',
  ENOENT: 'no server listens at this socket',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name of the host cannot be resolved',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
};

/** The cause of a failed connection in one line, followed by its code. Contains no part of the URL. */
export function connectionFailure(cause: unknown): string {
  const { code, name, message } = cause as NodeJS.ErrnoException;
  // The driver's own messages, such as `timeout expired`, are fixed strings.
  if (code === undefined && unavailabilityOf(cause) !== undefined) return message;
  const known = String(code ?? name);
  const words = Object.hasOwn(FAILURES, known) ? FAILURES[known] : undefined;
  return words === undefined ? known : `${words} (${known})`;
}
