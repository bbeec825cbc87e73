// Opens the instance's database for the length of one command, without the rest of the service.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommandError } from '../administration/command-error.js';
import type { Config } from '../config/load-config.js';
import { DataDirectoryLockedError } from '../platform/database/embedded/data-directory.lock.js';
import type { DatabaseSettings, OpenDatabase } from '../platform/database/data-source.js';
import { DatabaseUnavailableError, openDatabase } from '../platform/database/data-source.js';
import { UnsuitableServerError } from '../platform/database/pooler.js';
import { SCHEMA } from '../instance/schema.js';
import { databaseSettings } from '../instance/startup.js';
import type { CommandContext } from './command-settings.js';
import { reasonOf } from './answers.js';

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
  const database = await openInstanceDatabase(settings);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Where the configuration leads, the embedded database by its absolute path. */
export function instanceDatabase(context: CommandContext): DatabaseSettings {
  const config = context.settings.read('databaseUrl', 'databasePoolSize', 'dataDirectory');
  return databaseSettings({ ...config, dataDirectory: absoluteDataDirectory(config, context) });
}

/** Throws as `withDatabase`. */
export async function openInstanceDatabase(settings: DatabaseSettings): Promise<OpenDatabase> {
  if (settings.kind === 'embedded') refuseForeignDirectory(settings.directory);
  try {
    return await openDatabase(settings, SCHEMA);
  } catch (error) {
    if (error instanceof DataDirectoryLockedError) throw error;
    if (error instanceof DatabaseUnavailableError || error instanceof UnsuitableServerError)
      throw new CommandError(error.message);
    throw new CommandError(`The database cannot be opened: ${reasonOf(error)}`);
  }
}

/** The owner of the directory cannot read files of another account, even root: the service would no longer start. */
function refuseForeignDirectory(directory: string): void {
  const owner = statSync(directory, { throwIfNoEntry: false })?.uid;
  const account = process.getuid?.();
  if (owner === undefined || account === undefined || owner === account) return;
  throw new CommandError(
    `The data directory ${directory} belongs to another account. Run the command as that one: sudo -u '#${owner}' …`,
  );
}

/** The folder of the embedded database, resolved against the working folder. */
export function absoluteDataDirectory(
  { dataDirectory }: Pick<Config, 'dataDirectory'>,
  { workingDirectory }: CommandContext,
): string {
  return resolve(workingDirectory, dataDirectory);
}
