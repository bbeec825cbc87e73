// svc-admin migrate, credentials rekey and data copy: commands that open the database themselves.
import { join } from 'node:path';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { CommandError } from '../administration/operation.js';
import { renderTable } from '../administration/table.js';
import { POSITIONS_IN_COPY } from '../audit/sinks/sink-cursor.repository.js';
import { VARIABLES } from '../config/environment.js';
import { parseVariable } from '../config/variable.js';
import type { OpenDatabase } from '../platform/database/data-source.js';
import { Database } from '../platform/database/database.js';
import {
  hasDatabase,
  markCopied,
  markOf,
  unmarkCopied,
} from '../platform/database/embedded/data-directory.js';
import { copyRows } from '../platform/database/row-copy.js';
import { KeyRing } from '../platform/secrets/key-ring.js';
import type { Resealing, SealedRows, Unreadable } from '../platform/secrets/resealing.js';
import { reseal, unopened } from '../platform/secrets/resealing.js';
import { counted } from '../platform/text/wording.js';
import { SigningKeyRepository } from '../token-exchange/instance.js';
import { CredentialRepository } from '../workspace/credentials/credential.repository.js';
import { addCommand, wholeNumber } from './command.js';
import { keyRingOf, withDatabase } from './command.module.js';
import type { CommandContext } from './command-context.js';
import { MisuseError, reasonOf } from './command-context.js';
import { Progress, withProgress } from './terminal.js';

/** Opening a database migrates its schema. */
export function addMigrateCommand(program: Command, context: CommandContext): void {
  const about = "update the database's schema; the service does the same when it starts";
  addCommand(program, 'migrate', about, '--env-file production.env migrate').action(async () => {
    const migrating = withDatabase(context, async ({ appliedMigrations }) => appliedMigrations);
    const applied = await withProgress(context, 'Bringing the schema up to date', migrating);
    const text = applied.map((name) => `Applied ${name}.\n`).join('') || 'The schema was up to date.\n';
    context.answers.give({ applied }, text);
  });
}

const LARGEST_COUNT = 1_000_000_000;

interface RekeyOptions {
  /** The number of values that no key can unseal. */
  readonly discardUnreadable?: number;
}

export function addCredentialsCommands(program: Command, context: CommandContext): void {
  addCommand(
    program.command('credentials').description('maintain sealed secrets'),
    'rekey',
    'seal all secrets again with the first key of SVC_ENCRYPTION_KEY',
    '--env-file production.env credentials rekey',
    'To replace a key: put the new one first in SVC_ENCRYPTION_KEY of every instance and restart them, run this\n' +
      'command, then remove the old key from the list. On PostgreSQL the service may keep running.\n' +
      '\nIf a key is lost for good, what it sealed cannot be opened, and the service does not start. With all instances\n' +
      'stopped, --discard-unreadable deletes it. Enter such credentials again; signing keys are generated again.',
  )
    .option(
      '--discard-unreadable <count>',
      'delete the secrets that no key opens, if there are exactly this many: the number that the command prints without the option',
      wholeNumber(1, LARGEST_COUNT),
    )
    .action((options: RekeyOptions) =>
      withDatabase(context, (database) => rekey(database, context, options)),
    );
}

/** Includes signing keys. Otherwise the old key could not be deleted. */
async function rekey(
  { dataSource }: OpenDatabase,
  context: CommandContext,
  { discardUnreadable }: RekeyOptions,
): Promise<void> {
  const keyRing = keyRingOf(context);
  const resealAll = (unreadable: Unreadable) =>
    ofEachTable(dataSource, (rows) => reseal(rows, keyRing, unreadable));
  const kept = await withProgress(context, 'Sealing credentials again', resealAll('kept'));
  const mayDiscard = failuresOf(kept).length === discardUnreadable;
  const done = mayDiscard ? await resealAll('discarded') : kept;
  const counts = { credentials: kept.credential.count, signingKeys: kept['signing key'].count };
  const discarded = { credentials: done.credential.discarded, signingKeys: done['signing key'].discarded };
  context.answers.give(
    mayDiscard ? { ...counts, discarded } : counts,
    `Sealed again: ${inWords(counts)}.\n${mayDiscard ? `Deleted: ${inWords(discarded)}.\n` : ''}`,
  );
  refuseIncomplete(done, discardUnreadable);
}

/** One value for each table with a sealed column, by the name of its rows. */
async function ofEachTable<T>(
  dataSource: OpenDatabase['dataSource'],
  work: (rows: SealedRows) => Promise<T>,
) {
  return {
    credential: await work(new CredentialRepository(dataSource)),
    'signing key': await work(new SigningKeyRepository(new Database(dataSource))),
  };
}

function inWords({ credentials, signingKeys }: { credentials: number; signingKeys: number }): string {
  return `${counted(credentials, 'credential')}, ${counted(signingKeys, 'signing key')}`;
}

function failuresOf(resealings: Readonly<Record<string, Pick<Resealing, 'failures'>>>): string[] {
  return Object.entries(resealings).flatMap(([kind, { failures }]) =>
    failures.map(({ key, reason }) => `${kind} ${key}: ${reason}`),
  );
}

function refuseIncomplete(resealings: Readonly<Record<string, Resealing>>, discardUnreadable?: number): void {
  const failures = failuresOf(resealings);
  if (failures.length > 0 && discardUnreadable !== undefined)
    throw new CommandError(
      `Nothing was deleted: ${counted(failures.length, 'secret')} cannot be opened:`,
      failures,
    );
  if (failures.length > 0)
    throw new CommandError('Some secrets cannot be opened; they were not changed:', failures);
  if (Object.values(resealings).every(({ isComplete }) => isComplete)) return;
  throw new CommandError(
    'Secrets are still being sealed under another key: give every instance the new list of keys first.',
  );
}

export function addDataCommands(program: Command, context: CommandContext): void {
  addCommand(
    program.command('data').description('move an instance to another database'),
    'copy',
    'copy the embedded database into an empty PostgreSQL database; the instance continues with the copy',
    '--env-file production.env data copy --to postgres://svc@db.example/svc',
    'Stop the service first, and leave SVC_DATA_DIR and SVC_ENCRYPTION_KEY as they are. Users, used tokens, sessions,\n' +
      'credentials and the audit trail are copied, all or nothing. The folder is then marked and cannot be opened,\n' +
      'because used tokens would be accepted there again. Afterwards set SVC_DATABASE_URL and start the service.\n' +
      '\nOther accounts of the machine can see options: if the URL has a password, set SVC_DATABASE_URL instead.',
  )
    .option('--to <url>', 'postgres:// URL of the empty database; SVC_DATABASE_URL if left out', databaseUrl)
    .action(({ to }: { readonly to?: string }) => copy(context, to));
}

function databaseUrl(text: string): string {
  const parsed = parseVariable(VARIABLES.databaseUrl, text);
  if ('problem' in parsed) throw new InvalidArgumentError(`It ${parsed.problem}.`);
  return text;
}

async function copy(context: CommandContext, to: string | undefined): Promise<void> {
  const config = context.settings.read('databaseUrl', 'databasePoolSize', 'dataDirectory', 'encryptionKeys');
  const url = to ?? config.databaseUrl;
  if (url === undefined)
    throw new MisuseError('Give the address of the new database: --to, or SVC_DATABASE_URL.');
  const { dataDirectory: directory } = config;
  if (!hasDatabase(directory))
    throw new CommandError(`There is no embedded database in ${directory}: see SVC_DATA_DIR.`);
  const copyFrom = async (source: OpenDatabase) => {
    await requireKeys(source, config.encryptionKeys, directory);
    const copyTo = (target: OpenDatabase) => copyAll(context, source, target, directory);
    await withDatabase(context, copyTo, { kind: 'postgresql', url, poolSize: config.databasePoolSize });
  };
  await withDatabase(context, copyFrom, { kind: 'embedded', directory });
}

/** On PostgreSQL, the data folder has no key. The service does not start with keys that do not open its secrets. */
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
  const failures = failuresOf(
    await ofEachTable(dataSource, async (rows) => ({ failures: await unopened(rows, keyRing) })),
  );
  if (failures.length > 0)
    throw new CommandError(`Nothing was copied: ${name} does not open every secret:`, failures);
}

/** @rule D137 Copies all or nothing and keeps each sink's position. The folder cannot be opened once the copy is visible. */
async function copyAll(
  context: CommandContext,
  source: OpenDatabase,
  target: OpenDatabase,
  directory: string,
): Promise<void> {
  const progress = new Progress(context);
  let mayBeCommitted = false;
  const steps = {
    columns: POSITIONS_IN_COPY,
    onPage: (table: string, rows: number) => progress.show(`Copying ${table}, ${counted(rows, 'row')}`),
    beforeCommit: () => {
      markCopied(directory);
      mayBeCommitted = true;
    },
  };
  try {
    const rows = await copyRows(source.dataSource, target.dataSource, steps);
    progress.end();
    context.answers.give({ rows, directory }, textOf(rows, directory));
  } catch (error) {
    progress.end();
    if (mayBeCommitted) throw inDoubt(error, directory);
    unmarkCopied(directory);
    throw new CommandError(`Nothing was copied: ${reasonOf(error)}.`);
  }
}

/** The commit's outcome is unknown. The folder stays marked, because its used tokens would pass again if the copy exists. */
function inDoubt(error: unknown, directory: string): CommandError {
  return new CommandError(
    `It is unknown whether everything or nothing was copied: ${reasonOf(error)}. If the target has rows in user_account within a minute, all was: set ` +
      `SVC_DATABASE_URL to it, and start the service. Otherwise delete ${markOf(directory)}, and copy again.`,
  );
}

function textOf(rows: Readonly<Record<string, number>>, directory: string): string {
  const sum = Object.values(rows).reduce((one, other) => one + other, 0);
  const table = renderTable(
    ['TABLE', 'ROWS'],
    Object.entries(rows).map(([name, count]) => [name, String(count)]),
  );
  return (
    `${table}Copied ${counted(sum, 'row')}. Set SVC_DATABASE_URL to this database, keep SVC_ENCRYPTION_KEY, and start the service.\n` +
    `The folder ${directory} is marked and can no longer be opened; keep it until you have checked the instance, then delete it.\n`
  );
}
