// The command socket: where it is, and what goes through it.
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { dirname, join, resolve } from 'node:path';

/** The shortest limit of the systems is 104 bytes, with the byte that ends the path; what is longer some cut off without a word. */
const PATH_LIMIT_BYTES = 100;
/** A folder is for its owner to enter, the socket for its owner to read and write. */
const FOLDER_MODE = 0o700;
const SOCKET_MODE = 0o600;

/** There can be no command socket. The message says why, and what to do. */
export class CommandSocketError extends Error {}

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
 * Makes a server listen; Node.js removes the socket when the server is closed. A socket that a killed process has left is replaced:
 * call only while the data directory's lock is held, so that it cannot be that of a living process.
 * @throws CommandSocketError where there can be none
 * @throws Error of the system
 */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  const obstacle = obstacleTo(path);
  if (obstacle !== undefined) throw new CommandSocketError(obstacle);
  // No other account can reach the socket in it, even before the socket's own mode is set.
  makeFolder(dirname(path));
  rmSync(path, { force: true });
  const listening = once(server, 'listening');
  server.listen(path);
  await listening;
  chmodSync(path, SOCKET_MODE);
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new CommandSocketError(`${folder} is not a folder of the service's own account: remove it.`);
  chmodSync(folder, FOLDER_MODE);
}

/** A request with more bytes is refused. */
export const REQUEST_LIMIT_BYTES = 256 * 1024;

/** The version of the program that sends a request: one of another version gets an error that says so. */
export const VERSION_HEADER = 'x-version';

/** A line of the answer: pages as long as there are any, then one of the others, which is the last. */
export type AnswerLine =
  | { readonly page: readonly unknown[] }
  | { readonly result: unknown }
  /** Why it was not done, in words for the user of the command. */
  | { readonly refusal: string }
  /** It ended by a fault of the service, which has it in its log under this request id. */
  | { readonly fault: string };
