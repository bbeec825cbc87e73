// Runs commands from the command socket while the service uses the embedded database. Only the service's own
// account and root can access the socket's folder.
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fastify } from 'fastify';
import type { Logger } from 'pino';
import type { DatabaseSettings } from '../../platform/database/data-source.js';
import { DATABASE_SETTINGS } from '../../platform/database/data-source.js';
import { newRequestId } from '../../platform/http/http-messages.js';
import { LOGGER } from '../../platform/log/log.js';
import { VERSION } from '../../platform/version.js';
import { Administration } from '../administration.js';
import { AdministrationModule, findOperation } from '../administration.module.js';
import type { Operation } from '../operation.js';
import { CommandError, InputError } from '../operation.js';
import type { AnswerLine } from './command.client.js';
import { commandSocketPath, obstacleTo, REQUEST_LIMIT_BYTES, VERSION_HEADER } from './command.client.js';

const FAULT = 'a command failed because of an internal error';
/** How long a stop waits for clients to read their responses, once every change is done. */
const STOP_MS = 500;

type CommandRequest = FastifyRequest<{ Params: { command: string } }>;

/** Trusts every client: only the service's own account and root can use the socket, see `listenOnSocket`. */
export class CommandServer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /**
   * Free-form objects in workflows may contain `__proto__` or `constructor`. They are safe: operations read
   * properties by name, and nothing is merged.
   */
  private readonly server = fastify({
    bodyLimit: REQUEST_LIMIT_BYTES,
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
  });
  private readonly stopping = new AbortController();

  constructor(
    private readonly path: string,
    private readonly administration: Administration,
    private readonly modules: ModuleRef,
    private readonly logger: Logger,
  ) {
    this.server.post('/:command', (request: CommandRequest, reply) =>
      reply.type('application/x-ndjson').send(Readable.from(this.linesFor(request, reply))),
    );
  }

  /** A service without a command socket still starts: no update may prevent the start because of it. */
  async onApplicationBootstrap(): Promise<void> {
    try {
      await this.server.ready();
      await listenOnSocket(this.server.server, this.path);
      this.server.server.on('error', (err) => this.logger.error({ err }, 'the command socket failed'));
    } catch (error) {
      const cause = error instanceof CommandError ? { reason: error.message } : { err: error };
      this.logger.error(cause, 'commands are not accepted while the service runs');
    }
  }

  /** Finishes and answers the changes that were requested before the stop. Unread lists do not delay it. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    const closed = this.server.close();
    await this.administration.settled();
    setTimeout(() => this.server.server.closeAllConnections(), STOP_MS).unref();
    await closed;
  }

  /** A change continues if its client disconnects. Streams and waiting reads end. */
  private async *linesFor(request: CommandRequest, reply: FastifyReply): AsyncGenerator<string> {
    const requestId = newRequestId();
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const stop = AbortSignal.any([gone.signal, this.stopping.signal]);
    let [command, outcome]: [string | null, string] = [null, 'disconnected'];
    try {
      const operation = operationOf(request);
      command = operation.name;
      const asked = { id: requestId, way: 'service' } as const;
      const operations = this.modules.get(operation.type, { strict: false });
      const pieces = this.administration.run(operation, operations, request.body, asked, stop);
      for await (const piece of pieces) yield lineOf(piece);
      outcome = 'performed';
    } catch (error) {
      const isRefused = error instanceof CommandError;
      outcome = isRefused ? 'refused' : 'failed';
      const fault = `The operation failed; the log of the service says why, under request id ${requestId}.`;
      if (!isRefused) this.logger.error({ err: error, requestId, command }, FAULT);
      if (error instanceof InputError) yield lineOf({ member: error.member, rule: error.rule });
      else yield lineOf({ refusal: isRefused ? error.message : fault });
    } finally {
      const milliseconds = Math.round(reply.elapsedTime);
      this.logger.info({ requestId, command, outcome, milliseconds }, 'command');
    }
  }
}

/** @throws CommandError for an unknown command, and for a command of another version */
function operationOf({ headers, params: { command } }: CommandRequest): Operation {
  const theirs = headers[VERSION_HEADER];
  if (theirs !== VERSION)
    throw new CommandError(
      `The running service is version ${VERSION}, and this command is version ${String(theirs)}: use the ` +
        "command of the service's version, or restart the service.",
    );
  return findOperation(command);
}

function lineOf(line: AnswerLine): string {
  return `${JSON.stringify(line)}\n`;
}

/**
 * Makes a server listen. Replaces a socket that a killed process has left. Call it only while the data
 * directory is locked, so that the socket cannot belong to a live process.
 * @throws CommandError with cause and remedy, if there cannot be a socket
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
  // No other account can reach the socket in this folder, even before the socket's own mode is set.
  chmodSync(folder, 0o700);
  rmSync(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  chmodSync(path, 0o600);
}

@Module({
  imports: [AdministrationModule],
  providers: [
    {
      provide: CommandServer,
      inject: [DATABASE_SETTINGS, Administration, ModuleRef, LOGGER],
      useFactory: serverOf,
    },
  ],
})
export class CommandSocketModule {}

/** Only with the embedded database. */
function serverOf(
  settings: DatabaseSettings,
  administration: Administration,
  modules: ModuleRef,
  logger: Logger,
): CommandServer {
  if (settings.kind !== 'embedded') throw new Error('commands have the database for themselves');
  return new CommandServer(commandSocketPath(settings.directory), administration, modules, logger);
}
