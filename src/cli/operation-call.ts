// Performs an operation, on the database or through the service that runs on the embedded database.
import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplicationContext, Type } from '@nestjs/common';
import type { Piece } from '../administration/administration.js';
import { Administration } from '../administration/administration.js';
import { CommandError, InputError } from '../administration/command-error.js';
import type { AnswerOf, InputOf, Operation, OperationName } from '../administration/operation.js';
import { operationOf } from '../administration/operation.js';
import {
  askService,
  commandSocketPath,
  connectToService,
  obstacleTo,
} from '../administration/socket/command.client.js';
import type { Schema } from '../platform/database/data-source.js';
import { DataDirectoryLockedError, holderOf } from '../platform/database/embedded/data-directory.lock.js';
import { newRequestId } from '../platform/http/http-messages.js';
import { instanceDatabase, openCommandContext } from './command.module.js';
import { MisuseError } from './command-answers.js';
import type { CommandContext } from './command-context.js';

/** The service or another command may hold the database for a moment, while it starts or works. */
const PATIENCE_MS = 5_000;
const POLL_INTERVAL_MS = 100;

/** The process ends with the command, so nothing aborts this. */
const NEVER = new AbortController().signal;

/** Arguments by the input's property that they set, in the order of typing. */
export type Arguments = Readonly<
  Record<string, readonly [flags: string, what: string, choices?: readonly string[]]>
>;

/**
 * Performs an operation and reads a stream to its end.
 * @param schema the schema of a database that the command opens itself
 * @throws CommandError if it fails, or if only a running service could do it
 */
export async function perform<T extends object, M extends OperationName<T>>(
  context: CommandContext,
  type: Type<T>,
  method: M,
  input: InputOf<T, M>,
  schema?: Schema,
): Promise<AnswerOf<T, M>> {
  return (await answerTo(context, operationOf(type, method), input, schema)) as AnswerOf<T, M>;
}

/** Like `perform`, for an input that is checked. */
export async function answerTo(
  context: CommandContext,
  operation: Operation,
  input: unknown,
  schema?: Schema,
): Promise<unknown> {
  const all: unknown[] = [];
  let result: unknown;
  for await (const piece of ask(context, operation, input, schema))
    if ('result' in piece) ({ result } = piece);
    else all.push(...piece.page);
  return operation.kind === 'stream' ? all : result;
}

/** Reads a stream that may exceed memory or have no end. It ends when the reader stops. Throws like `perform`. */
export async function* readPages<T extends object, M extends OperationName<T>>(
  context: CommandContext,
  type: Type<T>,
  method: M,
  input: InputOf<T, M>,
): AsyncGenerator<AnswerOf<T, M>, void> {
  for await (const piece of ask(context, operationOf(type, method), input))
    if ('page' in piece) yield piece.page as AnswerOf<T, M>;
}

/** Checks the input before anything else happens. @throws MisuseError */
export function checkedInput(operation: Operation, input: unknown, takes?: Arguments): unknown {
  try {
    return operation.read(input);
  } catch (error) {
    throw inWords(error, takes);
  }
}

/** Renames the input's properties to options in the message. Other errors stay as they are. */
function inWords(error: unknown, takes: Arguments = {}): unknown {
  if (!(error instanceof InputError)) return error;
  const option = error.member.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const [argument = `--${option}`] = takes[error.member] ?? [];
  return new MisuseError(`${argument} ${error.rule}.`);
}

/**
 * Only one process can have the embedded database open: while a service runs, the command asks it. The command does not hold the
 * database's lock meanwhile, which would keep a service from starting.
 */
async function* ask(
  context: CommandContext,
  operation: Operation,
  given: unknown,
  schema?: Schema,
): AsyncGenerator<Piece, void> {
  const input = checkedInput(operation, given);
  try {
    yield* askInstance(context, operation, input, schema);
  } catch (error) {
    // The instance's clock checks ranges of times.
    throw inWords(error);
  }
}

async function* askInstance(
  context: CommandContext,
  operation: Operation,
  input: unknown,
  schema?: Schema,
): AsyncGenerator<Piece, void> {
  const settings = instanceDatabase(context);
  if (settings.kind === 'postgresql')
    return yield* askDatabase(await openCommandContext(context, settings, schema), operation, input);
  const { directory } = settings;
  const path = commandSocketPath(directory);
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const service = await connectToService(path);
    if (service !== undefined) return yield* askService(service, context.version, operation, input);
    const opened = holderOf(directory) ?? (await openUnlessHeld(context, directory, schema));
    if (typeof opened !== 'number') return yield* askDatabase(opened, operation, input);
    const obstacle = obstacleTo(path);
    if (obstacle !== undefined || performance.now() > deadline)
      throw new CommandError(silenceOf(directory, opened, obstacle));
    await pause(POLL_INTERVAL_MS);
  }
}

/** The id of the process that has the database open, or undefined. */
async function openUnlessHeld(
  context: CommandContext,
  directory: string,
  schema?: Schema,
): Promise<INestApplicationContext | number> {
  try {
    return await openCommandContext(context, { kind: 'embedded', directory }, schema);
  } catch (error) {
    if (error instanceof DataDirectoryLockedError) return error.processId;
    throw error;
  }
}

async function* askDatabase(
  application: INestApplicationContext,
  operation: Operation,
  input: unknown,
): AsyncGenerator<Piece, void> {
  try {
    const operations = application.get(operation.type);
    const request = { id: newRequestId(), way: 'database' } as const;
    yield* application.get(Administration).run(operation, operations, input, request, NEVER);
  } finally {
    await application.close();
  }
}

function silenceOf(directory: string, processId: number, obstacle: string | undefined): string {
  const cause =
    obstacle ??
    'A starting service accepts commands once it is ready; a service that cannot accept them logs the reason.';
  return (
    `The data directory ${directory} is in use by process ${processId}, which accepts no commands. ${cause} ` +
    'Otherwise stop that process first.'
  );
}
