// The socket by which commands reach the running service, in a folder for its own account and root alone.
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { Piece } from '../administration.js';
import { CommandError } from '../command-error.js';

/** The shortest limit of the systems is 104 bytes, with the byte that ends the path; what is longer some cut off without a word. */
const PATH_LIMIT_BYTES = 100;

/** @param dataDirectory of the embedded database; a relative one is in the working directory of the process */
export function commandSocketPath(dataDirectory: string): string {
  return join(resolve(dataDirectory), 'admin', 'socket');
}

/** Why there can be no socket at a path on this system, and what to do; undefined where there can be one. */
export function obstacleTo(path: string): string | undefined {
  if (process.platform === 'win32') return 'There are no command sockets on this system.';
  const bytes = Buffer.byteLength(path);
  if (bytes <= PATH_LIMIT_BYTES) return undefined;
  return (
    `The path of the command socket, ${path}, has ${bytes} bytes; ${PATH_LIMIT_BYTES} are the most. ` +
    'Choose a shorter path for SVC_DATA_DIR.'
  );
}

/**
 * Makes a server listen. A socket that a killed process has left is replaced: call only while the data directory's lock is held, so
 * that it cannot be that of a living process.
 * @throws CommandError where there can be none; it says why, and what to do
 * @throws Error of the system
 */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  const obstacle = obstacleTo(path);
  if (obstacle !== undefined) throw new CommandError(obstacle);
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new CommandError(`${folder} is not a folder of the service's own account: remove it.`);
  // No other account can reach the socket in it, even before the socket's own mode is set.
  chmodSync(folder, 0o700);
  rmSync(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  chmodSync(path, 0o600);
}

/** A request with more bytes is refused. */
export const REQUEST_LIMIT_BYTES = 256 * 1024;
/** The version of the program that sends a request: one of another version gets an error that says so. */
export const VERSION_HEADER = 'x-version';

/** A line of the answer. None follows a refusal, which says in words for the user of the command why it was not done. */
export type AnswerLine = Piece | { readonly refusal: string };
