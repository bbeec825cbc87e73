// The Unix socket by which commands reach the service that has the embedded database: where it is, and how it is made.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { dirname, join, resolve } from 'node:path';

/** A request with more bytes is refused. */
export const REQUEST_LIMIT_BYTES = 256 * 1024;

/** The shortest limit of the systems is 104 bytes, with the byte that ends the path; what is longer some cut off without a word. */
const PATH_LIMIT_BYTES = 100;
const FOLDER = 'admin';
const NAME = 'socket';
/** For the owner to read and write; a folder is for its owner to enter. */
const SOCKET_UMASK = 0o177;
const FOLDER_MODE = 0o700;
/** As long as the final name: both are within the limit, or none. */
const DRAFT_NAME_BYTES = NAME.length / 2;

/** There can be no command socket. The message says why, and what to do. */
export class CommandSocketError extends Error {}

/** @param dataDirectory of the embedded database; a relative one is in the working directory of the process */
export function commandSocketPath(dataDirectory: string): string {
  return join(resolve(dataDirectory), FOLDER, NAME);
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

/** A socket that listens, at its path. */
export class CommandSocket {
  private constructor(
    private readonly path: string,
    private readonly inode: number,
  ) {}

  /**
   * Makes a server listen. What is left of a killed process is taken away and replaced: call only while the data directory's
   * lock is held, so that it cannot be the socket of a process that lives.
   * @throws CommandSocketError where there can be none
   * @throws Error of the system
   */
  static async listen(server: Server, path: string): Promise<CommandSocket> {
    const obstacle = obstacleTo(path);
    if (obstacle !== undefined) throw new CommandSocketError(obstacle);
    const folder = dirname(path);
    makeFolder(folder);
    removeSockets(folder);
    const draft = join(folder, randomBytes(DRAFT_NAME_BYTES).toString('hex'));
    await bind(server, draft);
    // Under the name that it was bound to, Node.js would remove it at the end, whoever's it were by then.
    renameSync(draft, path);
    return new CommandSocket(path, lstatSync(path).ino);
  }

  /** Call before the server is closed: until then no other file can have the inode. */
  remove(): void {
    const found = lstatSync(this.path, { throwIfNoEntry: false });
    if (found?.ino === this.inode) rmSync(this.path, { force: true });
  }
}

/**
 * Node.js binds before `listen` returns: there is no moment at which the socket has more rights, and no other code of ours runs
 * under this umask.
 */
async function bind(server: Server, path: string): Promise<void> {
  const listening = once(server, 'listening');
  const umask = process.umask(SOCKET_UMASK);
  try {
    server.listen(path);
  } finally {
    process.umask(umask);
  }
  await listening;
}

function removeSockets(folder: string): void {
  const left = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isSocket());
  for (const { name } of left) rmSync(join(folder, name), { force: true });
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new CommandSocketError(`${folder} is not a folder of the service's own account: remove it.`);
  chmodSync(folder, FOLDER_MODE);
}
