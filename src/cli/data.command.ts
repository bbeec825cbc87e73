// svc-admin data copy: moves an instance from its embedded database to PostgreSQL.
import { join } from 'node:path';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { CommandError } from '../administration/command-error.js';
import { POSITIONS_IN_COPY } from '../audit/sinks/positions-in-copy.js';
import { VARIABLES } from '../config/environment.js';
import { checkDatabaseUrl } from '../config/variable-formats.js';
import type { OpenDatabase } from '../platform/database/data-source.js';
import { hasDatabase, markCopied, unmarkCopied } from '../platform/database/embedded/copied-data.js';
import { copyRows } from '../platform/database/row-copy.js';
import { KeyRing } from '../platform/secrets/key-ring.js';
import { unopened } from '../platform/secrets/resealing.js';
import { counted } from '../platform/text/wording.js';
import { reasonOf } from './answers.js';
import { addCommand } from './command.js';
import type { CommandContext } from './command-settings.js';
import { failuresOf, sealedTables } from './credentials.command.js';
import { absoluteDataDirectory, withDatabase } from './instance-database.js';
import { Progress } from './progress.js';
import { renderTable } from '../administration/table.js';

interface CopyOptions {
  readonly to?: string;
}

export function addDataCommands(program: Command, context: CommandContext): void {
  addCommand(
    program.command('data').description('move an instance to another database'),
    'copy',
    'copy the embedded database into an empty PostgreSQL database, with which the instance goes on',
    '--env-file production.env data copy --to postgres://svc@db.example/svc',
    'Stop the service first, and leave SVC_DATA_DIR and SVC_ENCRYPTION_KEY as they are. Users, used tokens, sessions,\n' +
      'credentials and the audit trail are copied, all or nothing. The folder is marked then and opens no more, since\n' +
      'tokens that were used would pass there. Afterwards set SVC_DATABASE_URL and start the service.\n' +
      '\nOther accounts of the machine can see options: with a password in the URL rather set SVC_DATABASE_URL.',
  )
    .option('--to <url>', 'postgres:// URL of the empty database; SVC_DATABASE_URL if left out', databaseUrl)
    .action((options: CopyOptions) => copy(context, options));
}

function databaseUrl(text: string): string {
  const problem = checkDatabaseUrl(text);
  if (problem === undefined) return text;
  throw new InvalidArgumentError(`It ${problem}.`);
}

async function copy(context: CommandContext, { to }: CopyOptions): Promise<void> {
  const config = context.settings.read('databaseUrl', 'databasePoolSize', 'dataDirectory', 'encryptionKeys');
  const url = to ?? config.databaseUrl;
  if (url === undefined)
    throw new CommandError('Give the address of the new database: --to, or SVC_DATABASE_URL.');
  const directory = absoluteDataDirectory(config, context);
  if (!hasDatabase(directory))
    throw new CommandError(`There is no embedded database in ${directory}: see SVC_DATA_DIR.`);
  const copyFrom = async (source: OpenDatabase) => {
    await requireKeys(source, config.encryptionKeys, directory);
    const copyTo = (target: OpenDatabase) => copyAll(context, source, target, directory);
    await withDatabase(context, copyTo, { kind: 'postgresql', url, poolSize: config.databasePoolSize });
  };
  await withDatabase(context, copyFrom, { kind: 'embedded', directory });
}

/** PostgreSQL has no key in the data folder, and the service does not start with keys that do not open its secrets. */
async function requireKeys(
  { dataSource }: OpenDatabase,
  keys: readonly Buffer[],
  directory: string,
): Promise<void> {
  const { name } = VARIABLES.encryptionKeys;
  if (keys.length === 0)
    throw new CommandError(
      `${name} is required with PostgreSQL: copy ${join(directory, 'encryption.key')} to where you keep secrets, ` +
        `and set ${name}_FILE to the path of the copy.`,
    );
  const keyRing = new KeyRing(keys, name);
  const { credential, 'signing key': signingKey } = sealedTables(dataSource);
  const failures = failuresOf({
    credential: { failures: await unopened(credential, keyRing) },
    'signing key': { failures: await unopened(signingKey, keyRing) },
  });
  if (failures.length > 0)
    throw new CommandError(`Nothing was copied: ${name} does not open all that is sealed:`, failures);
}

/** @rule D137 All or nothing, each sink where it was, and the folder opens no more once the copy can be seen. */
async function copyAll(
  context: CommandContext,
  source: OpenDatabase,
  target: OpenDatabase,
  directory: string,
): Promise<void> {
  const progress = new Progress(context);
  const steps = {
    columns: POSITIONS_IN_COPY,
    onPage: (table: string, rows: number) => progress.show(`Copying ${table}, ${counted(rows, 'row')}`),
    beforeCommit: () => markCopied(directory),
  };
  try {
    const rows = await copyRows(source.dataSource, target.dataSource, steps);
    progress.end();
    context.answers.give({ rows, directory }, textOf(rows, directory));
  } catch (error) {
    progress.end();
    unmarkCopied(directory);
    throw new CommandError(`Nothing was copied: ${reasonOf(error)}.`);
  }
}

function textOf(rows: Readonly<Record<string, number>>, directory: string): string {
  const sum = Object.values(rows).reduce((one, other) => one + other, 0);
  const table = renderTable(
    ['TABLE', 'ROWS'],
    Object.entries(rows).map(([name, count]) => [name, String(count)]),
  );
  return (
    `${table}Copied ${counted(sum, 'row')}. Set SVC_DATABASE_URL to this database, keep SVC_ENCRYPTION_KEY, and start the service.\n` +
    `The folder ${directory} is marked and opens no more; keep it until you have checked the instance, then delete it.\n`
  );
}
