// Marks a data directory whose data was copied to PostgreSQL, so that nobody keeps using it by mistake.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../start-error.js';

const MARK = 'copied-to-postgresql';

/** @throws StartError if the directory is marked */
export function refuseCopied(directory: string): void {
  if (!isCopied(directory)) return;
  throw new StartError(
    `The data of ${directory} was copied to PostgreSQL: set SVC_DATABASE_URL to that database. In the folder ` +
      `tokens that were used there since would pass again. If that database is given up, delete ${markOf(directory)}.`,
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
