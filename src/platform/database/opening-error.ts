// Explains in one sentence, with cause and remedy, why a database cannot be opened.
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import { StartError } from '../start-error.js';
import { isPermissionDenied } from './database-error.js';
import { MIGRATIONS_TABLE } from './migrate.js';

/** Remedies by the system's error code. */
const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full. Free some space, then start again',
  EDQUOT: 'the quota of the account is used up. Free some space, then start again',
  EACCES:
    'this account may not write there. Make it the owner of the folder, or set SVC_DATA_DIR to another one',
  EPERM:
    'this account may not write there. Make it the owner of the folder, or set SVC_DATA_DIR to another one',
  EROFS: 'the file system is read-only. Mount it for writing, or set SVC_DATA_DIR to another folder',
  EIO: 'the disk has failed. Replace it, and restore a backup',
};

/** The embedded engine uses WASI's error numbers and throws no `Error`. */
const WASI_CODES: Readonly<Record<number, string>> = {
  2: 'EACCES',
  19: 'EDQUOT',
  29: 'EIO',
  51: 'ENOSPC',
  63: 'EPERM',
  69: 'EROFS',
};

/** Adds the remedy. @returns the error itself if the file system is not its cause */
export function directoryError(directory: string, error: unknown): unknown {
  const { code: thrown, errno } = (error ?? {}) as NodeJS.ErrnoException;
  // Node.js reports ENOENT if it cannot create a folder on a read-only file system.
  const code = thrown === 'ENOENT' ? obstacleAt(resolve(directory)) : (thrown ?? WASI_CODES[errno ?? 0]);
  const remedy = code === undefined ? undefined : REMEDIES[code];
  if (remedy === undefined) return error;
  return new StartError(`The data directory ${directory} cannot be used: ${remedy} (${code}).`);
}

/** The error code that keeps this process from writing in the nearest existing folder. */
function obstacleAt(path: string): string | undefined {
  if (!existsSync(path) && path !== dirname(path)) return obstacleAt(dirname(path));
  try {
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

/**
 * The service's tables on which this role lacks a right. The owner of the migrations table owns all of them.
 * A new database has no migrations table, so no table is found.
 */
const WITHOUT_RIGHTS = `
  SELECT relname AS name, current_user AS role
    FROM pg_class
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
      AND relowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('${MIGRATIONS_TABLE}'))
      AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
        AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
    ORDER BY relname`;

/**
 * Fails at the start if a right is missing; otherwise statements would fail later, some only at a sign-in.
 * @throws StartError
 */
export async function requireRights(dataSource: DataSource): Promise<void> {
  const [first] = await dataSource.query<{ name: string; role: string }[]>(WITHOUT_RIGHTS);
  if (first === undefined) return;
  const { name, role } = first;
  throw new StartError(
    `The database role ${role} may not read and write the table ${name}. As the owner of the tables: ` +
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}.`,
  );
}

/** Adds the remedy. @returns the error itself if no right is missing */
export function rightsError(error: unknown): unknown {
  if (!isPermissionDenied(error)) return error;
  const { message } = error as Error;
  return new StartError(
    `The database role lacks a right: ${message} (42501). It needs to own the tables and to create others: ` +
      'GRANT USAGE, CREATE ON SCHEMA public to the role of SVC_DATABASE_URL, or make it the owner of the database.',
  );
}
