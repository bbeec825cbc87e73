// svc-admin credentials: seals the secrets of the instance again after a change of keys.
import type { Command } from 'commander';
import { VARIABLES } from '../config/environment.js';
import type { OpenDatabase } from '../database/data-source.js';
import { encryptionKeys } from '../start/startup.js';
import { SigningKeyRepository } from '../token-exchange/access-tokens/signing-key.repository.js';
import { Database } from '../token-exchange/database/database.js';
import { KeyRing } from '../token-exchange/sealing/key-ring.js';
import type { Resealing } from '../token-exchange/sealing/resealing.js';
import { reseal } from '../token-exchange/sealing/resealing.js';
import { CredentialRepository } from '../workspace/credentials/credential.repository.js';
import type { CommandContext } from './command-context.js';
import { CommandError } from '../administration/command-error.js';
import { absoluteDataDirectory, withDatabase } from './instance-database.js';
import { withProgress } from './progress.js';

export function addCredentialsCommands(program: Command, context: CommandContext): void {
  program
    .command('credentials')
    .description('look after sealed secrets')
    .command('rekey')
    .description('seal all credentials and signing keys again under the first key of SVC_ENCRYPTION_KEY')
    .addHelpText(
      'after',
      '\nTo replace a key: put the new one first in SVC_ENCRYPTION_KEY of every instance and restart them, run this\n' +
        'command, then take the old key out of the list. On PostgreSQL the service may go on running.\n' +
        '\nExample:\n  svc-admin --env-file production.env credentials rekey',
    )
    .action(() => withDatabase(context, (database) => rekey(database, context)));
}

/** Signing keys too: the old key could not be thrown away if they were left under it. */
async function rekey({ dataSource }: OpenDatabase, context: CommandContext): Promise<void> {
  const keyRing = new KeyRing(configuredKeys(context), VARIABLES.encryptionKeys.name);
  const resealing = reseal(new CredentialRepository(dataSource), keyRing);
  const credentials = await withProgress(context, 'Sealing credentials again', resealing);
  const signingKeys = await reseal(new SigningKeyRepository(new Database(dataSource)), keyRing);
  context.answers.give(
    { credentials: credentials.count, signingKeys: signingKeys.count },
    `Sealed again: ${credentials.count} credential(s), ${signingKeys.count} signing key(s).\n`,
  );
  refuseIncomplete({ credential: credentials, 'signing key': signingKeys });
}

/** Call while the data directory's lock is held. */
function configuredKeys(context: CommandContext): readonly Buffer[] {
  const { databaseUrl, dataDirectory, encryptionKeys: keys } = VARIABLES;
  const config = context.settings.read(databaseUrl, dataDirectory, keys);
  if (config.databaseUrl !== undefined && config.encryptionKeys.length === 0)
    throw new CommandError('SVC_ENCRYPTION_KEY is required with SVC_DATABASE_URL.');
  return encryptionKeys({ ...config, dataDirectory: absoluteDataDirectory(config, context) });
}

function refuseIncomplete(resealings: Record<string, Resealing>): void {
  const failures = Object.entries(resealings).flatMap(([kind, { failures: all }]) =>
    all.map(({ key, reason }) => `${kind} ${key}: ${reason}`),
  );
  if (failures.length > 0) throw new CommandError('Some do not open and were left as they are:', failures);
  if (Object.values(resealings).every(({ isComplete }) => isComplete)) return;
  throw new CommandError(
    'Secrets are still being sealed under another key: give every instance the new list of keys first.',
  );
}
