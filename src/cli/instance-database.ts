// The database of the instance that a command works on.
import { CommandError } from '../administration/command-error.js';
import { SCHEMA } from '../instance/schema.js';
import { databaseSettings } from '../instance/prepare-startup.js';
import type { DatabaseSettings, OpenDatabase } from '../platform/database/data-source.js';
import { openDatabase } from '../platform/database/data-source.js';
import { DataDirectoryLockedError } from '../platform/database/embedded/data-directory.lock.js';
import { StartError } from '../platform/start-error.js';
import { reasonOf } from './command-answers.js';
import type { CommandContext } from './command-context.js';

/**
 * Runs `work` on a database, its schema brought up to date. For what the running service
 * cannot do for a command; see administration.ts for all else.
 * @param settings left out: where the configuration leads
 * @throws DataDirectoryLockedError when another process has the embedded directory (D46)
 * @throws CommandError when the database cannot be opened
 */
export async function withDatabase<T>(
  context: CommandContext,
  work: (database: OpenDatabase) => Promise<T>,
  settings = instanceDatabase(context),
): Promise<T> {
  const database = await opening(() => openDatabase(settings, SCHEMA));
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Where the configuration leads. */
export function instanceDatabase({ settings }: CommandContext): DatabaseSettings {
  return databaseSettings(settings.read('databaseUrl', 'databasePoolSize', 'dataDirectory'));
}

/** Does what opens the database. Throws as `withDatabase`. */
export async function opening<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof DataDirectoryLockedError) throw error;
    if (error instanceof StartError) throw new CommandError(error.message);
    throw new CommandError(`The database cannot be opened: ${reasonOf(error)}`);
  }
}
