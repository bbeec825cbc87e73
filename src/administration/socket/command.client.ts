// The socket through which commands reach the running service: its path, its protocol, and the client.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { createConnection } from 'node:net';
import { join, resolve } from 'node:path';
import type { Piece } from '../administration.js';
import type { Operation } from '../operation.js';
import { CommandError, InputError } from '../operation.js';

/**
 * The smallest limit of the operating systems is 104 bytes, including the terminating NUL. Some truncate
 * longer paths silently.
 */
const PATH_LIMIT_BYTES = 100;

/**
 * @param dataDirectory the embedded database's directory; a relative path is resolved in the working
 * directory
 */
export function commandSocketPath(dataDirectory: string): string {
  return join(resolve(dataDirectory), 'admin', 'socket');
}

/** Why a socket is impossible at this path, and the remedy; undefined if it is possible. */
export function obstacleTo(path: string): string | undefined {
  if (process.platform === 'win32') return 'There are no command sockets on this system.';
  const bytes = Buffer.byteLength(path);
  if (bytes <= PATH_LIMIT_BYTES) return undefined;
  return (
    `The path of the command socket, ${path}, has ${bytes} bytes; ${PATH_LIMIT_BYTES} are the most. ` +
    'Choose a shorter path for SVC_DATA_DIR.'
  );
}

/** Larger requests are refused. */
export const REQUEST_LIMIT_BYTES = 256 * 1024;
/**
 * The version of the requesting program. Another version than the service's is refused with an explanation.
 */
export const VERSION_HEADER = 'x-version';

/** A line of the response. A refusal, in words for the command's user, is always the last line. */
export type AnswerLine =
  | Piece
  | { readonly refusal: string }
  /** An invalid input, which the command line explains. */
  | Pick<InputError, 'member' | 'rule'>;

const LOST =
  'The service closed the connection before it answered. Its audit trail shows whether the command was done.';

/** Undefined if no service listens, or none can. @throws CommandError if this account may not connect */
export async function connectToService(path: string): Promise<Socket | undefined> {
  if (obstacleTo(path) !== undefined) return undefined;
  try {
    const connection = createConnection(path);
    await once(connection, 'connect');
    return connection;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // The socket does not exist, or its process was killed.
    if (['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(code)) return undefined;
    throw new CommandError(
      `The command socket of the running service, ${path}, is for the service's own account and root (${code}).`,
    );
  }
}

/**
 * Requests an operation from the service. @throws CommandError if it was refused, has failed, or its outcome
 * is unknown
 */
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
        `The request would have ${bytes} bytes, and a running service accepts ${REQUEST_LIMIT_BYTES} (256 KiB): ` +
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
