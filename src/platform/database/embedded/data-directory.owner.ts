// Keeps a process out of an embedded data directory that belongs to another account.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../start-error.js';

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
