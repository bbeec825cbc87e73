// Has an operation performed: by the service that runs on the embedded database, or on the database itself.
import { setTimeout as pause } from 'node:timers/promises';
import { Administration } from '../administration/administration.js';
import { CommandError, InputError } from '../administration/command-error.js';
import type { ChangeOperation, ListOperation } from '../administration/operation.js';
import { CommandClient } from '../administration/socket/command.client.js';
import { commandSocketPath, obstacleTo } from '../administration/socket/command-socket.js';
import { DataDirectoryLockedError, holderOf } from '../platform/database/embedded/data-directory.lock.js';
import type { OpenDatabase } from '../platform/database/data-source.js';
import { newRequestId } from '../platform/log/request-id.js';
import type { CommandContext } from './command-settings.js';
import { instanceDatabase, openInstanceDatabase } from './instance-database.js';
import { instanceSettings } from './instance-settings.js';

/** A service that starts takes commands once it is ready; a command that has the database needs it for a moment. */
const PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 100;

/** A command that is stopped takes its process along. */
const NEVER = new AbortController().signal;

/** To the instance, for one operation. */
interface Way {
  perform<Input, Result>(operation: ChangeOperation<Input, Result>, input: Input): Promise<Result>;
  list<Input, Item>(
    operation: ListOperation<Input, Item>,
    input: Input,
  ): AsyncGenerator<readonly Item[], void>;
  close(): void | Promise<void>;
}

/** Performs a change. @throws CommandError when it cannot be done, or no service runs that could */
export async function perform<Input, Result>(
  context: CommandContext,
  operation: ChangeOperation<Input, Result>,
  input: Input,
): Promise<Result> {
  const checked = check(operation, input);
  const way = await wayToInstance(context);
  try {
    return await way.perform(operation, checked);
  } finally {
    await way.close();
  }
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

/** Reads a list that may be longer than memory holds, or have no end. It ends when the reader stops. Throws as `perform`. */
export async function* readPages<Input, Item>(
  context: CommandContext,
  operation: ListOperation<Input, Item>,
  input: Input,
): AsyncGenerator<readonly Item[], void> {
  const checked = check(operation, input);
  const way = await wayToInstance(context);
  try {
    yield* way.list(operation, checked);
  } finally {
    await way.close();
  }
}

/** Before anything else, and in the words of the command line. */
function check<Input>(operation: { read(input: unknown): Input }, input: Input): Input {
  try {
    return operation.read(input);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const option = error.member.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new CommandError(`--${option} ${error.rule}.`);
  }
}

/**
 * The embedded database belongs to one process: as long as that lives, only it can be asked. A command does not hold the lock
 * of the database meanwhile, which would keep a service from starting.
 */
async function wayToInstance(context: CommandContext): Promise<Way> {
  const settings = instanceDatabase(context);
  if (settings.kind === 'postgresql') return wayOn(await openInstanceDatabase(settings), context);
  const { directory } = settings;
  const path = commandSocketPath(directory);
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const service = await CommandClient.connect(path, context.version);
    if (service !== undefined) return service;
    const opened = holderOf(directory) ?? (await openUnlessHeld(directory));
    if (typeof opened !== 'number') return wayOn(opened, context);
    const obstacle = obstacleTo(path);
    if (obstacle !== undefined || performance.now() > deadline)
      throw new CommandError(silenceOf(directory, opened, obstacle));
    await pause(LOOK_EVERY_MS);
  }
}

/** The id of the process that has got it, where one has. */
async function openUnlessHeld(directory: string): Promise<OpenDatabase | number> {
  try {
    return await openInstanceDatabase({ kind: 'embedded', directory });
  } catch (error) {
    if (error instanceof DataDirectoryLockedError) return error.processId;
    throw error;
  }
}

async function wayOn(database: OpenDatabase, context: CommandContext): Promise<Way> {
  const administration = await Administration.on(database, instanceSettings(context));
  const request = { id: newRequestId(), way: 'database' } as const;
  return {
    perform: (operation, input) => administration.perform(operation, input, request),
    list: (operation, input) => administration.list(operation, input, request, NEVER),
    close: () => database.close(),
  };
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
