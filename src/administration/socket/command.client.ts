// The socket by which commands reach the running service: where it is, what goes through it, and how the service is asked by it.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { createConnection } from 'node:net';
import { join, resolve } from 'node:path';
import type { Piece } from '../administration.js';
import { CommandError, InputError } from '../command-error.js';
import type { Operation } from '../operation.js';

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

/** A request with more bytes is refused. */
export const REQUEST_LIMIT_BYTES = 256 * 1024;
/** The version of the program that sends a request: one of another version gets an error that says so. */
export const VERSION_HEADER = 'x-version';

/** A line of the answer. None follows a refusal, which says in words for the user of the command why it was not done. */
export type AnswerLine =
  | Piece
  | { readonly refusal: string }
  /** A bad input, of which the command line says more. */
  | Pick<InputError, 'member' | 'rule'>;

const LOST =
  'The service closed the connection before it answered. Its audit trail shows whether the command was done.';

/** Undefined where no service listens, or can. @throws CommandError where this account may not connect */
export async function connectToService(path: string): Promise<Socket | undefined> {
  if (obstacleTo(path) !== undefined) return undefined;
  try {
    const connection = createConnection(path);
    await once(connection, 'connect');
    return connection;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // There is no socket, or it is that of a process that was killed.
    if (['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(code)) return undefined;
    throw new CommandError(
      `The command socket of the running service, ${path}, is for the service's own account and root (${code}).`,
    );
  }
}

/** Has the service run an operation. @throws CommandError where it was refused, has failed, or is not known */
export async function* askService(
  connection: Socket,
  version: string,
  { name }: Operation,
  input: unknown,
): AsyncGenerator<Piece, void> {
  const body = JSON.stringify(input);
  const bytes = Buffer.byteLength(body);
  const headers = { [VERSION_HEADER]: version, 'content-type': 'application/json' };
  const target = { headers, path: `/${encodeURIComponent(name)}`, createConnection: () => connection };
  try {
    if (bytes > REQUEST_LIMIT_BYTES)
      throw new CommandError(
        `The request would have ${bytes} bytes, and a running service takes ${REQUEST_LIMIT_BYTES} (256 KiB): ` +
          'do it in smaller parts, or while the service is stopped.',
      );
    const asked = request({ method: 'POST', ...target }).end(body);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    let begun = '';
    for await (const text of answer.setEncoding('utf8') as AsyncIterable<string>) {
      const lines = (begun + text).split('\n');
      begun = lines.pop() ?? '';
      for (const line of lines) {
        const piece = JSON.parse(line) as AnswerLine;
        if ('refusal' in piece) throw new CommandError(piece.refusal);
        if ('rule' in piece) throw new InputError(piece.member, piece.rule);
        yield piece;
        if ('result' in piece) return;
      }
    }
    throw new CommandError(LOST);
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(LOST);
  } finally {
    connection.destroy();
  }
}
