// Asks the service that runs on the embedded database for an operation, or performs it on the database itself.
import { setTimeout as pause } from 'node:timers/promises';
import type { Piece } from '../administration/administration.js';
import { Administration } from '../administration/administration.js';
import { CommandError, InputError } from '../administration/command-error.js';
import type { ChangeOperation, ListOperation, Operation } from '../administration/operation.js';
import {
  askService,
  commandSocketPath,
  connectToService,
  obstacleTo,
} from '../administration/socket/command.client.js';
import { DataDirectoryLockedError, holderOf } from '../platform/database/embedded/data-directory.lock.js';
import type { OpenDatabase } from '../platform/database/data-source.js';
import { newRequestId } from '../platform/log/request-id.js';
import { MisuseError } from './answers.js';
import type { CommandContext } from './command-context.js';
import { instanceDatabase, instanceSettings, openInstanceDatabase } from './instance.js';

/** A service that starts takes commands once it is ready; a command that has the database needs it for a moment. */
const PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 100;

/** A command that is stopped ends its process. */
const NEVER = new AbortController().signal;

/** Performs a change. @throws CommandError when it cannot be done, or no service runs that could */
export async function perform<Input, Result>(
  context: CommandContext,
  operation: ChangeOperation<Input, Result>,
  input: Input,
): Promise<Result> {
  let result: unknown;
  for await (const piece of ask(context, operation, input)) if ('result' in piece) ({ result } = piece);
  return result as Result;
}

/** Reads a list to its end. Throws as `perform`. */
export async function readList<Input, Item>(
  context: CommandContext,
  operation: ListOperation<Input, Item>,
  input: Input,
): Promise<Item[]> {
  const all: Item[] = [];
  for await (const page of readPages(context, operation, input)) all.push(...page);
  return all;
}

/** Reads a list of one. Throws as `perform`. */
export async function readOne<Input, Item>(
  context: CommandContext,
  operation: ListOperation<Input, Item>,
  input: Input,
): Promise<Item> {
  const [item] = await readList(context, operation, input);
  if (item === undefined) throw new CommandError('The service has not answered.');
  return item;
}

/** Reads a list that may be longer than memory holds, or have no end. It ends when the reader stops. Throws as `perform`. */
export async function* readPages<Input, Item>(
  context: CommandContext,
  operation: ListOperation<Input, Item>,
  input: Input,
): AsyncGenerator<readonly Item[], void> {
  for await (const piece of ask(context, operation, input))
    if ('page' in piece) yield piece.page as readonly Item[];
}

/** Before anything else, and in the words of the command line. @throws MisuseError */
export function checkedInput<Input>(
  operation: { read(input: unknown): Input; command?: Operation['command'] },
  input: unknown,
): Input {
  try {
    return operation.read(input);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const option = error.member.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const [argument = `--${option}`] = operation.command?.takes?.[error.member] ?? [];
    throw new MisuseError(`${argument} ${error.rule}.`);
  }
}

/**
 * The embedded database belongs to one process: as long as that lives, only it can be asked. A command does not hold the lock
 * of the database meanwhile, which would keep a service from starting.
 */
async function* ask(
  context: CommandContext,
  operation: Operation,
  given: unknown,
): AsyncGenerator<Piece, void> {
  const input = checkedInput(operation, given);
  const settings = instanceDatabase(context);
  if (settings.kind === 'postgresql')
    return yield* askDatabase(await openInstanceDatabase(settings), context, operation, input);
  const { directory } = settings;
  const path = commandSocketPath(directory);
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const service = await connectToService(path);
    if (service !== undefined) return yield* askService(service, context.version, operation, input);
    const opened = holderOf(directory) ?? (await openUnlessHeld(directory));
    if (typeof opened !== 'number') return yield* askDatabase(opened, context, operation, input);
    const obstacle = obstacleTo(path);
    if (obstacle !== undefined || performance.now() > deadline)
      throw new CommandError(silenceOf(directory, opened, obstacle));
    await pause(LOOK_EVERY_MS);
  }
}

/** The id of the process that has the database, where one has. */
async function openUnlessHeld(directory: string): Promise<OpenDatabase | number> {
  try {
    return await openInstanceDatabase({ kind: 'embedded', directory });
  } catch (error) {
    if (error instanceof DataDirectoryLockedError) return error.processId;
    throw error;
  }
}

async function* askDatabase(
  database: OpenDatabase,
  context: CommandContext,
  operation: Operation,
  input: unknown,
): AsyncGenerator<Piece, void> {
  try {
    const administration = await Administration.on(database, instanceSettings(context));
    const request = { id: newRequestId(), way: 'database' } as const;
    yield* administration.run(operation, input, request, NEVER);
  } finally {
    await database.close();
  }
}

function silenceOf(directory: string, processId: number, obstacle: string | undefined): string {
  const cause =
    obstacle ??
    'A starting service takes commands once it is ready; one that cannot take them says why in its log.';
  return (
    `The data directory ${directory} is in use by process ${processId}, which takes no commands. ${cause} ` +
    'Otherwise stop that process first.'
  );
}
