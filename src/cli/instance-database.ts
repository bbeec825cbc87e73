// Opens the instance's database for a command.
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
 * Runs `work` on a database after migrating its schema. It is for work that the running service
 * cannot do for a command. See operation-call.ts for everything else.
 * @param settings default: the configured database
 * @throws DataDirectoryLockedError if another process has the embedded directory (D46)
 * @throws CommandError if the database cannot be opened
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

/** The configured database. */
export function instanceDatabase({ settings }: CommandContext): DatabaseSettings {
  return databaseSettings(settings.read('databaseUrl', 'databasePoolSize', 'dataDirectory'));
}

/** Opens the database. Throws like `withDatabase`. */
export async function opening<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof DataDirectoryLockedError) throw error;
    if (error instanceof StartError) throw new CommandError(error.message);
    throw new CommandError(`The database cannot be opened: ${reasonOf(error)}`);
  }
}
