// Reads the instance's configuration, and only the variables that a command needs.
import { existsSync } from 'node:fs';
import { CommandError } from '../administration/command-error.js';
import { AdministrationSettings } from '../administration/settings.js';
import { VARIABLES } from '../config/environment.js';
import { NEW_ENCRYPTION_KEY } from '../config/variable-formats.js';
import {
  checkStartup,
  encryptionKeyPath,
  encryptionKeys,
  trustedKeysRules,
} from '../instance/prepare-startup.js';
import { explanationRules } from '../instance/token-exchange-settings.js';
import type { Clock } from '../platform/clock.js';
import { KeyRing } from '../platform/secrets/key-ring.js';
import type {
  ExplanationRules,
  StoredEntriesRules,
  Transmitter,
  TrustedKeysRules,
} from '../token-exchange/instance.js';
import { readTrustedKeys } from '../token-exchange/instance.js';
import type { CommandContext } from './command-context.js';

/** The settings that the rules for trusted keys depend on. */
const TRUST_SETTINGS = [
  'jwksAllowHttp',
  'jwksAllowPrivate',
  'strict',
  'baseUrl',
  'port',
  'tlsCertificate',
] as const;

/** The settings of a command that opens the database itself. */
export class CommandAdministrationSettings extends AdministrationSettings {
  constructor(
    private readonly context: CommandContext,
    private readonly clock: Clock,
  ) {
    super();
  }

  /** A command can run without the configured keys, and ignores entries with problems. Each instance checks its own. */
  get trust(): StoredEntriesRules {
    const rules = rulesOf(this.context);
    const { trustedKeys = '[]' } = this.context.settings.read('trustedKeys');
    return { configured: readTrustedKeys(trustedKeys, rules).entries, rules };
  }

  get configuredIn(): string {
    return this.context.settings.labelOf('trustedKeys');
  }

  get transmitters(): readonly Transmitter[] {
    return this.context.settings.read('transmitters').transmitters;
  }

  /** Checks as a service with the same variables would. @throws ConfigurationError for the variables that matter */
  async explanationRules(): Promise<ExplanationRules> {
    const { settings } = this.context;
    settings.read(
      ...TRUST_SETTINGS,
      ...(['featureFlag', 'license', 'licensePublicKey'] as const),
      ...(['embedLoginEnabled', 'exchangeEnabled', 'idAssertionEnabled'] as const),
      ...(['maxTokenLifetimeSeconds', 'keyRefreshIntervalSeconds', 'sessionLifetimeSeconds'] as const),
    );
    return explanationRules(await checkStartup(settings.startupSources), this.clock);
  }
}

/** The keys that seal secrets at rest. Call it while the data directory is locked. @throws CommandError if there are none */
export function keyRingOf({ settings }: CommandContext): KeyRing {
  const config = settings.read('databaseUrl', 'dataDirectory', 'encryptionKeys');
  if (config.databaseUrl !== undefined && config.encryptionKeys.length === 0)
    throw new CommandError(
      `SVC_ENCRYPTION_KEY is required with SVC_DATABASE_URL; ${NEW_ENCRYPTION_KEY} generates one.`,
    );
  return new KeyRing(encryptionKeys(config), VARIABLES.encryptionKeys.name);
}

/** The same for readers: it creates no key. @throws CommandError if there are none */
export function presentKeyRingOf(context: CommandContext): KeyRing {
  const config = context.settings.read('databaseUrl', 'dataDirectory', 'encryptionKeys');
  const path = encryptionKeyPath(config);
  if (config.databaseUrl === undefined && config.encryptionKeys.length === 0 && !existsSync(path))
    throw new CommandError(
      `The service's encryption key identifies persons, and ${path} does not exist: ` +
        'set SVC_ENCRYPTION_KEY as for the service.',
    );
  return keyRingOf(context);
}

/** The rules for trusted keys, as the service reads them. */
export function rulesOf({ settings }: CommandContext): TrustedKeysRules {
  return trustedKeysRules(settings.read(...TRUST_SETTINGS));
}
