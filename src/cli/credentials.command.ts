// svc-admin credentials: seals the secrets of the instance again after a change of keys.
import type { Command } from 'commander';
import type { OpenDatabase } from '../platform/database/data-source.js';
import { SigningKeyRepository } from '../token-exchange/instance.js';
import { Database } from '../platform/database/database.js';
import type { Resealing, Unreadable } from '../platform/secrets/resealing.js';
import { reseal } from '../platform/secrets/resealing.js';
import { CredentialRepository } from '../workspace/credentials/credential.repository.js';
import { addCommand } from './command.js';
import type { CommandContext } from './command-settings.js';
import { CommandError } from '../administration/command-error.js';
import { withDatabase } from './instance-database.js';
import { keyRingOf } from './instance-settings.js';
import { wholeNumber } from './option-values.js';
import { withProgress } from './progress.js';
import { counted } from '../platform/text/wording.js';

const LARGEST_COUNT = 1_000_000_000;

interface RekeyOptions {
  /** How many values are known to open with no key. */
  readonly discardUnreadable?: number;
}

export function addCredentialsCommands(program: Command, context: CommandContext): void {
  addCommand(
    program.command('credentials').description('maintain sealed secrets'),
    'rekey',
    'seal all credentials and signing keys again with the first key of SVC_ENCRYPTION_KEY',
    '--env-file production.env credentials rekey',
    'To replace a key: put the new one first in SVC_ENCRYPTION_KEY of every instance and restart them, run this\n' +
      'command, then remove the old key from the list. On PostgreSQL the service may go on running.\n' +
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

/** Signing keys too: the old key could not be thrown away if they were left under it. */
async function rekey(
  { dataSource }: OpenDatabase,
  context: CommandContext,
  { discardUnreadable }: RekeyOptions,
): Promise<void> {
  const keyRing = keyRingOf(context);
  const tables = sealedTables(dataSource);
  const resealAll = async (unreadable: Unreadable) => ({
    credential: await reseal(tables.credential, keyRing, unreadable),
    'signing key': await reseal(tables['signing key'], keyRing, unreadable),
  });
  const kept = await withProgress(context, 'Sealing credentials again', resealAll('kept'));
  const mayDiscard = failuresOf(kept).length === discardUnreadable;
  const { credential, 'signing key': signingKey } = mayDiscard ? await resealAll('discarded') : kept;
  const counts = { credentials: kept.credential.count, signingKeys: kept['signing key'].count };
  const discarded = { credentials: credential.discarded, signingKeys: signingKey.discarded };
  context.answers.give(
    mayDiscard ? { ...counts, discarded } : counts,
    `Sealed again: ${inWords(counts)}.\n${mayDiscard ? `Deleted: ${inWords(discarded)}.\n` : ''}`,
  );
  refuseIncomplete({ credential, 'signing key': signingKey }, discardUnreadable);
}

/** All tables with a sealed column, by what a row of theirs is. */
export function sealedTables(dataSource: OpenDatabase['dataSource']) {
  return {
    credential: new CredentialRepository(dataSource),
    'signing key': new SigningKeyRepository(new Database(dataSource)),
  };
}

function inWords({ credentials, signingKeys }: { credentials: number; signingKeys: number }): string {
  return `${counted(credentials, 'credential')}, ${counted(signingKeys, 'signing key')}`;
}

export function failuresOf(resealings: Record<string, Pick<Resealing, 'failures'>>): string[] {
  return Object.entries(resealings).flatMap(([kind, { failures }]) =>
    failures.map(({ key, reason }) => `${kind} ${key}: ${reason}`),
  );
}

function refuseIncomplete(resealings: Record<string, Resealing>, discardUnreadable?: number): void {
  const failures = failuresOf(resealings);
  if (failures.length > 0 && discardUnreadable !== undefined)
    throw new CommandError(
      `Nothing was deleted: ${counted(failures.length, 'secret')} cannot be opened:`,
      failures,
    );
  if (failures.length > 0)
    throw new CommandError('Some secrets do not open; they were left as they are:', failures);
  if (Object.values(resealings).every(({ isComplete }) => isComplete)) return;
  throw new CommandError(
    'Secrets are still being sealed under another key: give every instance the new list of keys first.',
  );
}
