// Adds commands to the command line and parses the values of options.
import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplicationContext, Type } from '@nestjs/common';
import type { Command } from 'commander';
import { Argument, InvalidArgumentError } from 'commander';
import type { Piece } from '../administration/administration.js';
import { Administration } from '../administration/administration.js';
import type { AnswerOf, InputOf, Operation, OperationName } from '../administration/operation.js';
import { CommandError, InputError, operationOf } from '../administration/operation.js';
import {
  askService,
  commandSocketPath,
  connectToService,
  obstacleTo,
} from '../administration/socket/command.client.js';
import type { Schema } from '../platform/database/data-source.js';
import { DataDirectoryLockedError, holderOf } from '../platform/database/embedded/data-directory.lock.js';
import { newRequestId } from '../platform/http/http-messages.js';
import { momentOf } from '../platform/text/moment.js';
import { MAX_KID_BYTES } from '../token-exchange/instance.js';
import { instanceDatabase, openCommandContext } from './command.module.js';
import type { CommandContext } from './command-context.js';
import { MisuseError } from './command-context.js';
import { withProgress } from './terminal.js';

/** Describes an operation as a command. Each option becomes the input's property of the same name. */
interface OperationCommand<Input, Answer> {
  /** The first line of its help. */
  readonly about: string;
  readonly takes?: Arguments;
  /** Text of the help between options and example. */
  readonly more?: string;
  /** The arguments of the example, if it has any. */
  readonly example?: string;
  /** Formats the answer for people. A stream passes all its items. */
  text(answer: Answer, input: Input): string;
  /** The answer for programs, if it differs from the operation's answer. */
  json?(answer: Answer, input: Input): unknown;
  /** Printed on standard error if the list is empty. */
  readonly nothing?: string;
  /** Makes the input from arguments and options. The default passes them on. */
  readonly input?: (typed: never) => unknown;
  readonly doing?: (input: Input) => string;
  /** Runs after the answer is printed. */
  readonly after?: (answer: Answer, input: Input) => void | Promise<void>;
}

/**
 * @param example the arguments after `svc-admin`
 * @param more text of the help above the example
 */
export function addCommand(
  parent: Command,
  name: string,
  about: string,
  example: string,
  more?: string,
): Command {
  const above = more === undefined ? '' : `\n${more}\n`;
  return parent
    .command(name)
    .description(about)
    .addHelpText('after', `${above}\nExample:\n  svc-admin ${example}`);
}

export function addOperation<T extends object, M extends OperationName<T>>(
  parent: Command,
  context: CommandContext,
  type: Type<T>,
  method: M,
  shown: OperationCommand<InputOf<T, M>, AnswerOf<T, M>>,
): Command {
  const operation = operationOf(type, method);
  const { name } = operation;
  const { about, takes = {}, example, more } = shown;
  const typedExample = [name, ...(example === undefined ? [] : [example])].join(' ');
  const command = addCommand(parent, name.split(' ').at(-1) ?? name, about, typedExample, more);
  for (const [flags, what, choices] of Object.values(takes)) {
    const argument = new Argument(flags, what);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  return command.action((...values: unknown[]) => {
    const given = Object.keys(takes).map((member, index) => [member, values[index]] as const);
    const typed = { ...Object.fromEntries<unknown>(given), ...command.opts<object>() };
    return run(context, operation, typed, shown as OperationCommand<unknown, unknown>);
  });
}

async function run(
  context: CommandContext,
  operation: Operation,
  typed: object,
  command: OperationCommand<unknown, unknown>,
): Promise<void> {
  const { input: inputOf = (same) => same, takes, doing, after, nothing } = command;
  const given = await inputOf(typed as never);
  const input = checkedInput(operation, given, takes);
  const asking = answerTo(context, operation, given);
  const answer = await (doing === undefined ? asking : withProgress(context, doing(input), asking));
  const value = command.json === undefined ? answer : command.json(answer, input);
  const text = () => command.text(answer, input);
  if (nothing === undefined) context.answers.give(value, text());
  else context.answers.giveList(value as readonly unknown[], text, nothing);
  await after?.(answer, input);
}

/** Returns a parser of whole numbers in a range, both ends included. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Parses a `kid`. It refuses an empty string, such as a script's empty variable. */
export function usableKid(text: string): string {
  if (text !== '' && Buffer.byteLength(text) <= MAX_KID_BYTES) return text;
  throw new InvalidArgumentError(`It must have 1 to ${MAX_KID_BYTES} bytes.`);
}

/** Parses a time of ISO 8601: a date means midnight UTC, a date with a time needs its zone. */
export function isoMoment(text: string): Date {
  const moment = momentOf(text);
  if (moment !== undefined) return moment;
  throw new InvalidArgumentError('It must be a date such as 2031-05-01 or 2031-05-01T12:00:00Z.');
}

/** Returns a parser of comma-separated lists of known words. Duplicates are dropped. */
export function listOf<const T extends string>(known: readonly T[]): (text: string) => T[] {
  return (text) => {
    const words = text.split(',').map((word) => word.trim());
    const found = known.filter((word) => words.includes(word));
    if (words.every((word) => known.some((other) => other === word))) return found;
    throw new InvalidArgumentError(`It must be one or more of ${known.join(', ')}, separated by commas.`);
  };
}

/** Collects `name=json` options. */
export function jsonMember(text: string, earlier: readonly [string, unknown][] = []): [string, unknown][] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be name=json.');
  try {
    return [...earlier, [text.slice(0, at), JSON.parse(text.slice(at + 1))]];
  } catch {
    throw new InvalidArgumentError(
      'The value after = must be JSON. A string needs quotes: team=\'"sales"\'.',
    );
  }
}

/** The service or another command may hold the database for a moment, while it starts or works. */
const PATIENCE_MS = 5_000;
const POLL_INTERVAL_MS = 100;

/** The process ends with the command, so nothing aborts this. */
const NEVER = new AbortController().signal;

/** Arguments by the input's property that they set, in the order of typing. */
type Arguments = Readonly<
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
function checkedInput(operation: Operation, input: unknown, takes?: Arguments): unknown {
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
