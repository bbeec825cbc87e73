// What commands know of the configuration of the instance that they work on: read only where a command needs it.
import { CommandError } from '../administration/command-error.js';
import type { InstanceSettings } from '../administration/instance-parts.js';
import { PersonHashes } from '../audit/person-hashes.js';
import { VARIABLES } from '../config/environment.js';
import { NEW_ENCRYPTION_KEY } from '../config/variable-formats.js';
import { explainerOf } from '../instance/instance-explainer.js';
import { checkStartup, encryptionKeys, trustedKeysRules } from '../instance/startup.js';
import { explanationRules } from '../instance/token-exchange-settings.js';
import type { ExplanationRules, StoredEntriesRules, TrustedKeysRules } from '../token-exchange/instance.js';
import { readTrustedKeys } from '../token-exchange/instance.js';
import type { Clock } from '../platform/clock.js';
import { KeyRing } from '../platform/secrets/key-ring.js';
import { QUOTA_SETTINGS, quotaLimits } from '../workspace/quotas/quotas.js';
import type { CommandContext } from './command-settings.js';
import { absoluteDataDirectory } from './instance-database.js';

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
      return new PersonHashes(keyRingOf(context));
    },
    get limits() {
      return quotaLimits(context.settings.read(...QUOTA_SETTINGS));
    },
    explain: explainerOf((clock) => explanationRulesOf(context, clock)),
  };
}

/** The keys that seal secrets at rest. Call while the data directory's lock is held. @throws CommandError where there are none */
export function keyRingOf(context: CommandContext): KeyRing {
  const config = context.settings.read('databaseUrl', 'dataDirectory', 'encryptionKeys');
  if (config.databaseUrl !== undefined && config.encryptionKeys.length === 0)
    throw new CommandError(
      `SVC_ENCRYPTION_KEY is required with SVC_DATABASE_URL; ${NEW_ENCRYPTION_KEY} generates one.`,
    );
  const dataDirectory = absoluteDataDirectory(config, context);
  return new KeyRing(encryptionKeys({ ...config, dataDirectory }), VARIABLES.encryptionKeys.name);
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

/** @throws CommandError where there are none */
export function configuredKeys({ settings }: CommandContext): string {
  const { trustedKeys } = settings.read('trustedKeys');
  if (trustedKeys !== undefined) return trustedKeys;
  throw new CommandError(
    'There are no trusted keys: give --file, or set SVC_TOKEN_EXCHANGE_TRUSTED_KEYS or its _FILE.',
  );
}

/**
 * The rules for stored entries. A command may run without the configured keys, and ignores entries with problems: each instance
 * checks with its own.
 */
export function storedEntriesRulesOf(context: CommandContext): StoredEntriesRules {
  const rules = rulesOf(context);
  const { trustedKeys = '[]' } = context.settings.read('trustedKeys');
  return { configured: readTrustedKeys(trustedKeys, rules).entries, rules };
}
