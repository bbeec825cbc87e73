// Takes commands on the command socket while the service has the embedded database, and answers them.
import { randomUUID } from 'node:crypto';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Administration } from '../administration.js';
import { CommandError } from '../command-error.js';
import type { Operation } from '../operation.js';
import { CommandSocket, CommandSocketError, REQUEST_LIMIT_BYTES } from './command-socket.js';
import type { AnswerLine } from './messages.js';
import { readRequest } from './messages.js';

/** From the connection to the end of the request. Commands send theirs at once. */
const REQUEST_MS = 5_000;
/** So long an answer may lie there without a byte of it being read. */
const UNREAD_MS = 10_000;
/** So long a stop waits for them. */
const STOP_UNREAD_MS = 500;
/** So long a command that was answered may take to end its half of the connection. */
const LINGER_MS = 1_000;
/** At one time. Each may hold a request of the largest size. */
const MAX_CONNECTIONS = 32;
const BUSY = 'The service takes no more commands at one time; try again.';

export interface CommandServerOptions {
  /** Of the socket. */
  readonly path: string;
  /** Of this service. */
  readonly version: string;
}

/** One request, as the log tells of it. */
interface Served {
  readonly requestId: string;
  command: string | null;
  outcome: 'performed' | 'refused' | 'failed' | 'gone';
}

/** Whoever can connect is trusted: the socket is for the service's own account and root, see command-socket.ts. */
export class CommandServer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly server: Server;
  private readonly connections = new Set<Socket>();
  /** Those whose request is not whole yet. */
  private readonly reading = new Set<Socket>();
  private readonly serving = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private socket: CommandSocket | undefined;

  constructor(
    private readonly options: CommandServerOptions,
    private readonly administration: Administration,
    private readonly logger: Logger,
  ) {
    this.server = createServer({ allowHalfOpen: true }, (connection) => this.take(connection));
    // It is the HTTP server that keeps the process alive.
    this.server.unref();
  }

  /** A service that cannot take commands does all else: no update may keep an instance from starting for it. */
  async onApplicationBootstrap(): Promise<void> {
    try {
      this.socket = await CommandSocket.listen(this.server, this.options.path);
      this.server.on('error', (err) => this.logger.error({ err }, 'the command socket failed'));
    } catch (error) {
      const cause = error instanceof CommandSocketError ? { reason: error.message } : { err: error };
      this.logger.error(cause, 'commands cannot be taken while the service runs');
    }
  }

  /** What was asked for before the stop is done and answered. */
  async beforeApplicationShutdown(): Promise<void> {
    this.socket?.remove();
    if (this.server.listening) this.server.close();
    for (const connection of this.reading) connection.destroy();
    this.stopping.abort();
    const unread = setTimeout(() => this.leaveUnread(), STOP_UNREAD_MS);
    await Promise.all(this.serving);
    clearTimeout(unread);
    for (const connection of this.connections) connection.destroy();
  }

  /** Who stands still keeps no service from stopping. */
  private leaveUnread(): void {
    for (const connection of this.connections) if (connection.writableLength > 0) connection.destroy();
  }

  private take(connection: Socket): void {
    this.connections.add(connection);
    connection.on('close', () => this.connections.delete(connection));
    // A command that has gone. Whoever writes to the connection hears of it too.
    connection.on('error', () => undefined);
    if (this.connections.size > MAX_CONNECTIONS) {
      connection.resume().end(lineOf({ refusal: BUSY }));
      lingerOn(connection);
      return;
    }
    const served = this.serve(connection).finally(() => this.serving.delete(served));
    this.serving.add(served);
  }

  private async serve(connection: Socket): Promise<void> {
    const began = performance.now();
    const served: Served = { requestId: randomUUID(), command: null, outcome: 'gone' };
    endUnread(connection);
    // What was begun is done, also where nobody waits for it any more; a list is left.
    for await (const line of this.answer(connection, served)) {
      await othersTurn();
      if (connection.destroyed) break;
      if (!connection.write(line)) await drained(connection);
    }
    const milliseconds = Math.round((performance.now() - began) * 10) / 10;
    this.logger.info({ ...served, milliseconds }, 'command');
    await ended(connection);
    lingerOn(connection);
  }

  private async *answer(connection: Socket, served: Served): AsyncGenerator<string> {
    try {
      const bytes = await this.read(connection);
      if (bytes === undefined) return;
      const { operation, input } = readRequest(bytes, this.options.version);
      served.command = operation.name;
      for await (const line of this.perform(operation, input, served)) yield lineOf(line);
    } catch (error) {
      yield lineOf(this.failure(error, served));
    }
  }

  private async *perform(operation: Operation, input: unknown, served: Served): AsyncGenerator<AnswerLine> {
    const request = { id: served.requestId, way: 'service' } as const;
    const read = await this.administration.read(operation, input, request);
    let result: unknown = null;
    if ('change' in operation) result = await this.administration.perform(operation, read, request);
    else {
      const pages = this.administration.list(operation, read, request, this.stopping.signal);
      for await (const page of pages) yield { page };
    }
    served.outcome = 'performed';
    yield { result };
  }

  private failure(error: unknown, served: Served): AnswerLine {
    if (error instanceof CommandError) {
      served.outcome = 'refused';
      return { refusal: error.message };
    }
    served.outcome = 'failed';
    const { requestId, command } = served;
    this.logger.error({ err: error, requestId, command }, 'a command failed by a fault of the service');
    return { fault: requestId };
  }

  private async read(connection: Socket): Promise<Buffer | undefined> {
    this.reading.add(connection);
    try {
      return await requestOn(connection);
    } finally {
      this.reading.delete(connection);
    }
  }
}

/**
 * All bytes up to the end of the client's half; undefined where it goes before.
 * @throws CommandError for a request that is too large or too slow
 */
function requestOn(connection: Socket): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const refuse = (message: string) => reject(new CommandError(message));
    const slow = `The request did not arrive within ${REQUEST_MS / 1000} seconds.`;
    const deadline = setTimeout(refuse, REQUEST_MS, slow);
    connection.on('close', () => {
      clearTimeout(deadline);
      resolve(undefined);
    });
    connection.on('data', (chunk) => {
      bytes += chunk.length;
      if (bytes <= REQUEST_LIMIT_BYTES) chunks.push(chunk);
      else refuse(`The request has more than ${REQUEST_LIMIT_BYTES} bytes (256 KiB).`);
    });
    connection.on('end', () => {
      clearTimeout(deadline);
      resolve(Buffer.concat(chunks));
    });
  });
}

/** While a change is under way nothing is written: then nobody is slow. */
function endUnread(connection: Socket): void {
  connection.setTimeout(UNREAD_MS, () => {
    if (connection.writableLength > 0) connection.destroy();
  });
}

function drained(connection: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      connection.off('drain', done).off('close', done);
      resolve();
    };
    connection.on('drain', done).on('close', done);
  });
}

/** All is sent, or nobody is there any more: of that Node.js tells an `end` that comes afterwards nothing. */
function ended(connection: Socket): Promise<void> {
  if (connection.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    connection.on('close', () => resolve()).end(() => resolve());
  });
}

/** To close a connection on which something arrives still would lose its answer. */
function lingerOn(connection: Socket): void {
  const linger = setTimeout(() => connection.destroy(), LINGER_MS);
  connection.on('close', () => clearTimeout(linger));
}

function lineOf(line: AnswerLine): string {
  return `${JSON.stringify(line)}\n`;
}
