// Refuses an embedded data directory of another account, or one whose data was copied to PostgreSQL, so that nobody
// keeps using it by mistake.
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../start-error.js';

const MARK = 'copied-to-postgresql';

/** @throws StartError if the directory is marked */
export function refuseCopied(directory: string): void {
  if (!isCopied(directory)) return;
  throw new StartError(
    `The data of ${directory} was copied to PostgreSQL: set SVC_DATABASE_URL to that database. In the folder ` +
      `tokens that were used since then would be accepted again. If you abandon that database, delete ${markOf(directory)}.`,
  );
}

export function isCopied(directory: string): boolean {
  return existsSync(markOf(directory));
}

/** Whether the directory contains an embedded database. */
export function hasDatabase(directory: string): boolean {
  return existsSync(join(directory, 'database'));
}

export function markCopied(directory: string): void {
  writeFileSync(markOf(directory), `${new Date().toISOString()}\n`, { mode: 0o600, flush: true });
}

export function unmarkCopied(directory: string): void {
  rmSync(markOf(directory), { force: true });
}

/** The path of the marker file. */
export function markOf(directory: string): string {
  return join(directory, MARK);
}

/**
 * Refuses a directory of another account. Its owner could not read what this account writes, even if this is
 * root, and the owner's next start would fail. The owner of an empty directory matters only to root: a
 * container's volume may belong to root and be open to all.
 * @param account the user id of this process; undefined if the system has none
 * @throws StartError
 */
export function refuseForeignDirectory(directory: string, account = process.getuid?.()): void {
  if (account === undefined) return;
  const owner = ownerOf(join(directory, 'database')) ?? (account === 0 ? ownerOf(directory) : undefined);
  if (owner === undefined || owner === account) return;
  throw new StartError(
    `The data directory ${directory} belongs to account ${owner}, which could not read what account ${account} writes. ` +
      `Nothing was changed. Run this as its owner: sudo -u '#${owner}' …`,
  );
}

/** Undefined if the file does not exist, or its folder cannot be read. */
function ownerOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.uid;
  } catch {
    return undefined;
  }
}
