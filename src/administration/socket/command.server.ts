// Performs commands that come by the command socket while the service has the embedded database.
import { Readable } from 'node:stream';
import type {
  BeforeApplicationShutdown,
  DynamicModule,
  ModuleMetadata,
  OnApplicationBootstrap,
} from '@nestjs/common';
import { Module } from '@nestjs/common';
import { fastify } from 'fastify';
import type { FastifyError, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { JsonError, parseStrictJsonBytes } from '../../platform/json/strict-json.js';
import { LOGGER } from '../../platform/log/log.js';
import { newRequestId } from '../../platform/log/request-id.js';
import { Administration } from '../administration.js';
import { CommandError } from '../command-error.js';
import type { Operation } from '../operation.js';
import { findOperation } from '../operations.js';
import { CommandSocketError, listenOnSocket, REQUEST_LIMIT_BYTES, VERSION_HEADER } from './command-socket.js';
import type { AnswerLine } from './command-socket.js';

/** For a request to arrive. Commands send theirs at once. */
const REQUEST_MS = 5_000;
/** So long a stop waits, once every change is done, for clients to take their answers. */
const STOP_MS = 500;

interface CommandServerOptions {
  /** Of the socket. */
  readonly path: string;
  /** Of this service. */
  readonly version: string;
}

type CommandRequest = FastifyRequest<{ Params: { command: string } }>;

/** One request, for its log line. */
interface Served {
  readonly requestId: string;
  command: string | null;
  outcome: 'performed' | 'refused' | 'failed' | 'disconnected';
}

/** Every client is trusted: the socket is for the service's own account and root, see command-socket.ts. */
export class CommandServer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly server = fastify({ bodyLimit: REQUEST_LIMIT_BYTES, requestTimeout: REQUEST_MS });
  private readonly changes = new Set<Promise<unknown>>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly options: CommandServerOptions,
    private readonly administration: Administration,
    private readonly logger: Logger,
  ) {
    this.server.removeAllContentTypeParsers();
    this.server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    this.server.post('/:command', (request: CommandRequest, reply) =>
      reply.type('application/x-ndjson').send(Readable.from(this.linesFor(request))),
    );
    this.server.setErrorHandler((error: FastifyError, _request, reply) =>
      reply.send(lineOf({ refusal: `The service refuses this request: ${error.message}.` })),
    );
    // It is the HTTP server that keeps the process alive.
    this.server.server.unref();
  }

  /** A service that cannot take commands does all else: no update may keep an instance from starting for it. */
  async onApplicationBootstrap(): Promise<void> {
    try {
      await this.server.ready();
      await listenOnSocket(this.server.server, this.options.path);
      this.server.server.on('error', (err) => this.logger.error({ err }, 'the command socket failed'));
    } catch (error) {
      const cause = error instanceof CommandSocketError ? { reason: error.message } : { err: error };
      this.logger.error(cause, 'commands cannot be taken while the service runs');
    }
  }

  /** Changes that were asked for before the stop are done and answered. Lists that are not read do not hold it up. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    const closed = this.server.close();
    await Promise.allSettled(this.changes);
    const cut = setTimeout(() => this.server.server.closeAllConnections(), STOP_MS);
    await closed;
    clearTimeout(cut);
  }

  /** A change goes on to its end if its client disconnects; a list does not. */
  private async *linesFor(request: CommandRequest): AsyncGenerator<string> {
    const began = performance.now();
    const served: Served = { requestId: newRequestId(), command: null, outcome: 'disconnected' };
    try {
      const operation = this.operationOf(request);
      served.command = operation.name;
      for await (const line of this.perform(operation, inputOf(request), served.requestId))
        yield lineOf(line);
      served.outcome = 'performed';
    } catch (error) {
      yield lineOf(this.failure(error, served));
    } finally {
      const milliseconds = Math.round((performance.now() - began) * 10) / 10;
      this.logger.info({ ...served, milliseconds }, 'command');
    }
  }

  /** @throws CommandError for an unknown one, and for a command of another version */
  private operationOf({ headers, params: { command } }: CommandRequest): Operation {
    const { version } = this.options;
    const theirs = headers[VERSION_HEADER];
    if (theirs !== version)
      throw new CommandError(
        `The service that runs is version ${version}, and this command is version ${String(theirs)}: use the ` +
          "command of the service's version, or restart the service.",
      );
    const operation = findOperation(command);
    if (operation === undefined) throw new CommandError('The service knows no such command.');
    return operation;
  }

  private async *perform(operation: Operation, given: unknown, id: string): AsyncGenerator<AnswerLine> {
    const request = { id, way: 'service' } as const;
    const input = await this.administration.read(operation, given, request);
    if ('change' in operation) {
      const change = this.administration.perform(operation, input, request);
      this.changes.add(change);
      yield { result: await change.finally(() => this.changes.delete(change)) };
    } else {
      const pages = this.administration.list(operation, input, request, this.stopping.signal);
      for await (const page of pages) yield { page };
      yield { result: null };
    }
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
}

/** @throws CommandError */
function inputOf({ body }: CommandRequest): unknown {
  try {
    return parseStrictJsonBytes(body instanceof Uint8Array ? body : new Uint8Array());
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new CommandError(`The request cannot be read: ${error.message}.`);
  }
}

function lineOf(line: AnswerLine): string {
  return `${JSON.stringify(line)}\n`;
}

@Module({})
export class CommandSocketModule {
  /** @param imports modules that offer log and administration */
  static register(
    options: CommandServerOptions,
    imports: NonNullable<ModuleMetadata['imports']>,
  ): DynamicModule {
    const useFactory = (performs: Administration, logger: Logger) =>
      new CommandServer(options, performs, logger);
    const inject = [Administration, LOGGER];
    return {
      module: CommandSocketModule,
      imports,
      providers: [{ provide: CommandServer, useFactory, inject }],
    };
  }
}
