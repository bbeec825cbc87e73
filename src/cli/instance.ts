// The instance that a command works on: its database, and what its configuration says, which is read only where a command needs it.
import { existsSync } from 'node:fs';
import { CommandError } from '../administration/command-error.js';
import type { InstanceSettings } from '../administration/instance-parts.js';
import { PersonHashes } from '../audit/person-hashes.js';
import { VARIABLES } from '../config/environment.js';
import { NEW_ENCRYPTION_KEY } from '../config/variable-formats.js';
import { explainerOf } from '../instance/instance-explainer.js';
import { SCHEMA } from '../instance/schema.js';
import {
  checkStartup,
  databaseSettings,
  encryptionKeyPath,
  encryptionKeys,
  trustedKeysRules,
} from '../instance/startup.js';
import { explanationRules } from '../instance/token-exchange-settings.js';
import type { Clock } from '../platform/clock.js';
import type { DatabaseSettings, OpenDatabase } from '../platform/database/data-source.js';
import { DatabaseUnavailableError, openDatabase } from '../platform/database/data-source.js';
import { DataDirectoryLockedError } from '../platform/database/embedded/data-directory.lock.js';
import { ForeignDataDirectoryError } from '../platform/database/embedded/data-directory.owner.js';
import { UnsuitableServerError } from '../platform/database/pooler.js';
import { KeyRing } from '../platform/secrets/key-ring.js';
import type { ExplanationRules, StoredEntriesRules, TrustedKeysRules } from '../token-exchange/instance.js';
import { readTrustedKeys } from '../token-exchange/instance.js';
import { QUOTA_SETTINGS, quotaLimits } from '../workspace/quotas/quotas.js';
import { reasonOf } from './answers.js';
import type { CommandContext } from './command-context.js';
import { readTextFile } from './files.js';

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

/** Where the configuration leads. */
export function instanceDatabase({ settings }: CommandContext): DatabaseSettings {
  return databaseSettings(settings.read('databaseUrl', 'databasePoolSize', 'dataDirectory'));
}

/** Their messages say what to do. */
const OPERATORS_ERRORS = [DatabaseUnavailableError, ForeignDataDirectoryError, UnsuitableServerError];

/** Throws as `withDatabase`. */
export async function openInstanceDatabase(settings: DatabaseSettings): Promise<OpenDatabase> {
  try {
    return await openDatabase(settings, SCHEMA);
  } catch (error) {
    if (error instanceof DataDirectoryLockedError) throw error;
    if (OPERATORS_ERRORS.some((kind) => error instanceof kind))
      throw new CommandError((error as Error).message);
    throw new CommandError(`The database cannot be opened: ${reasonOf(error)}`);
  }
}

/** The settings that the rules for trusted keys depend on. */
const TRUST_SETTINGS = [
  'jwksAllowHttp',
  'jwksAllowPrivate',
  'strict',
  'baseUrl',
  'port',
  'tlsCertificate',
] as const;

export function instanceSettings(context: CommandContext): InstanceSettings {
  return {
    get trust() {
      return storedEntriesRulesOf(context);
    },
    get configuredIn() {
      return context.settings.labelOf('trustedKeys');
    },
    get personHashes() {
      return new PersonHashes(presentKeyRingOf(context));
    },
    get limits() {
      return quotaLimits(context.settings.read(...QUOTA_SETTINGS));
    },
    explain: explainerOf((clock) => explanationRulesOf(context, clock)),
  };
}

/** The keys that seal secrets at rest. Call while the data directory's lock is held. @throws CommandError where there are none */
export function keyRingOf({ settings }: CommandContext): KeyRing {
  const config = settings.read('databaseUrl', 'dataDirectory', 'encryptionKeys');
  if (config.databaseUrl !== undefined && config.encryptionKeys.length === 0)
    throw new CommandError(
      `SVC_ENCRYPTION_KEY is required with SVC_DATABASE_URL; ${NEW_ENCRYPTION_KEY} generates one.`,
    );
  return new KeyRing(encryptionKeys(config), VARIABLES.encryptionKeys.name);
}

/** The same for what only reads: it makes no key. @throws CommandError where there are none */
function presentKeyRingOf(context: CommandContext): KeyRing {
  const config = context.settings.read('databaseUrl', 'dataDirectory', 'encryptionKeys');
  const path = encryptionKeyPath(config);
  if (config.databaseUrl === undefined && config.encryptionKeys.length === 0 && !existsSync(path))
    throw new CommandError(
      `Persons are known by the encryption key of the service, and there is no ${path}: ` +
        'set SVC_ENCRYPTION_KEY as for the service.',
    );
  return keyRingOf(context);
}

/** As the service would check that is started with the same variables. @throws ConfigurationError for those that matter */
async function explanationRulesOf({ settings }: CommandContext, clock: Clock): Promise<ExplanationRules> {
  settings.read(
    ...TRUST_SETTINGS,
    ...(['featureFlag', 'license', 'licensePublicKey'] as const),
    ...(['embedLoginEnabled', 'exchangeEnabled', 'idAssertionEnabled'] as const),
    ...(['maxTokenLifetimeSeconds', 'keyRefreshIntervalSeconds', 'sessionLifetimeSeconds'] as const),
  );
  return explanationRules(await checkStartup(settings.startupSources), clock);
}

/** The rules for trusted keys, as the service reads them. */
export function rulesOf({ settings }: CommandContext): TrustedKeysRules {
  return trustedKeysRules(settings.read(...TRUST_SETTINGS));
}

/**
 * The text of a file, or of a variable where no file is named.
 * @param nothing what to say where there is neither
 * @throws CommandError
 */
export function textGiven(
  context: CommandContext,
  path: string | undefined,
  variable: 'license' | 'licensePublicKey' | 'trustedKeys',
  nothing: string,
): string {
  const text = path === undefined ? context.settings.read(variable)[variable] : readTextFile(context, path);
  if (text === undefined) throw new CommandError(nothing);
  return text;
}

/**
 * The rules for stored entries. A command may run without the configured keys, and ignores entries with problems: each instance
 * checks with its own.
 */
function storedEntriesRulesOf(context: CommandContext): StoredEntriesRules {
  const rules = rulesOf(context);
  const { trustedKeys = '[]' } = context.settings.read('trustedKeys');
  return { configured: readTrustedKeys(trustedKeys, rules).entries, rules };
}
