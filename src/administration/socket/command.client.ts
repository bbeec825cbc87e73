// Asks the running service for an operation, by its command socket.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { createConnection } from 'node:net';
import { CommandError } from '../command-error.js';
import type { ChangeOperation, ListOperation, Operation } from '../operation.js';
import { obstacleTo, REQUEST_LIMIT_BYTES, VERSION_HEADER } from './command-socket.js';
import type { AnswerLine } from './command-socket.js';

/** No process listens: there is no socket, or it is that of a process that was killed. */
const NOT_LISTENING = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'];
const FORBIDDEN = ['EACCES', 'EPERM'];

/** A connection to the running service, for one operation. */
export class CommandClient {
  /** @param version of this program */
  private constructor(
    private readonly connection: Socket,
    private readonly version: string,
  ) {}

  /**
   * Connects; undefined where no service listens, or can.
   * @throws CommandError where this account may not
   */
  static async connect(path: string, version: string): Promise<CommandClient | undefined> {
    if (obstacleTo(path) !== undefined) return undefined;
    try {
      const connection = createConnection(path);
      await once(connection, 'connect');
      return new CommandClient(connection, version);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (NOT_LISTENING.includes(code)) return undefined;
      if (!FORBIDDEN.includes(code)) throw error;
      throw new CommandError(
        `The command socket of the running service, ${path}, is for the service's own account and root (${code}).`,
      );
    }
  }

  async perform<Input, Result>(operation: ChangeOperation<Input, Result>, input: Input): Promise<Result> {
    for await (const line of this.ask(operation, input)) if ('result' in line) return line.result as Result;
    throw lost();
  }

  async *list<Input, Item>(
    operation: ListOperation<Input, Item>,
    input: Input,
  ): AsyncGenerator<readonly Item[], void> {
    for await (const line of this.ask(operation, input)) {
      if ('result' in line) return;
      if ('page' in line) yield line.page as readonly Item[];
    }
    throw lost();
  }

  close(): void {
    this.connection.destroy();
  }

  /** @throws CommandError where the operation was refused, has failed, or is not known */
  private async *ask({ name }: Operation, input: unknown): AsyncGenerator<AnswerLine> {
    const answer = await this.send(`/${encodeURIComponent(name)}`, JSON.stringify(input));
    for await (const text of linesOf(answer)) {
      const line = JSON.parse(text) as AnswerLine;
      if ('refusal' in line) throw new CommandError(line.refusal);
      if ('fault' in line)
        throw new CommandError(
          `The operation failed; the log of the service says why, under request id ${line.fault}.`,
        );
      yield line;
    }
  }

  private async send(path: string, body: string): Promise<IncomingMessage> {
    const bytes = Buffer.byteLength(body);
    if (bytes > REQUEST_LIMIT_BYTES)
      throw new CommandError(
        `The request would have ${bytes} bytes, and a running service takes ${REQUEST_LIMIT_BYTES} (256 KiB): ` +
          'do it in smaller parts, or while the service is stopped.',
      );
    const headers = {
      [VERSION_HEADER]: this.version,
      'content-type': 'application/json',
      'content-length': bytes,
    };
    const createConnection = () => this.connection;
    const asked = request({ method: 'POST', path, headers, createConnection }).end(body);
    try {
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      return answer;
    } catch {
      throw lost();
    }
  }
}

/** Lines that are whole. */
async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  let begun = '';
  // For an answer that is left before its end.
  answer.on('error', () => undefined);
  try {
    for await (const text of answer.setEncoding('utf8') as AsyncIterable<string>) {
      const lines = (begun + text).split('\n');
      begun = lines.pop() ?? '';
      yield* lines;
    }
  } catch {
    throw lost();
  }
}

function lost(): CommandError {
  return new CommandError(
    'The service closed the connection before it answered. Its audit trail shows whether the command was done.',
  );
}
