// The configured trusted keys for commands: the entries, and the rules for all entries.
import { CommandError } from '../administration/command-error.js';
import { VARIABLES } from '../config/environment.js';
import { trustedKeysRules } from '../instance/startup.js';
import type { StoredEntriesRules } from '../token-exchange/instance.js';
import type { TrustedKeysRules } from '../token-exchange/plain.js';
import { readTrustedKeys } from '../token-exchange/plain.js';
import type { CommandContext } from './command-settings.js';

/** As the service reads them. */
export function rulesOf({ settings }: CommandContext): TrustedKeysRules {
  const { jwksAllowHttp, jwksAllowPrivate, strict, baseUrl, port, tlsCertificate } = VARIABLES;
  return trustedKeysRules(
    settings.read(jwksAllowHttp, jwksAllowPrivate, strict, baseUrl, port, tlsCertificate),
  );
}

/** @throws CommandError where there are none */
export function configuredKeys({ settings }: CommandContext): string {
  const { trustedKeys } = settings.read(VARIABLES.trustedKeys);
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
  const { trustedKeys = '[]' } = context.settings.read(VARIABLES.trustedKeys);
  return { configured: readTrustedKeys(trustedKeys, rules).entries, rules };
}
