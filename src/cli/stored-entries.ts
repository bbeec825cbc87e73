// Reads stored entries for checks, and changes nothing.
import { CommandError } from '../administration/command-error.js';
import type { ListedEntry } from '../administration/entries/list-entries.operation.js';
import { EntryListOperations } from '../administration/entries/list-entries.operation.js';
import { ConfigurationError } from '../config/load-config.js';
import { SCHEMA } from '../instance/schema.js';
import { hasDatabase } from '../platform/database/embedded/copied-data.js';
import { perform } from './operation-call.js';
import { reasonOf } from './command-answers.js';
import type { CommandContext } from './command-context.js';
import { instanceDatabase } from './instance-database.js';

/**
 * Asks the running service or the database, without creating or migrating it.
 * @returns undefined, with a remark, if there is neither
 */
export async function storedEntries(context: CommandContext): Promise<readonly ListedEntry[] | undefined> {
  try {
    const settings = instanceDatabase(context);
    if (settings.kind === 'embedded' && !hasDatabase(settings.directory))
      throw new CommandError(`There is no database in ${settings.directory}.`);
    const schema = { ...SCHEMA, mayMigrate: false };
    const all = await perform(context, EntryListOperations, 'list', {}, schema);
    return all.filter(({ from }) => from === 'command');
  } catch (error) {
    const isConfiguration = error instanceof ConfigurationError;
    const reason = isConfiguration ? 'The configuration has problems.' : reasonOf(error);
    context.answers.remark(`Stored entries are not checked: ${reason}`);
    return undefined;
  }
}
