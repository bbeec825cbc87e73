// Derives the settings of token exchange from the configuration, for its module and for explaining tokens.
import type { ExplanationRules, TokenExchangeSettings, UserTable } from '../token-exchange/instance.js';
import { TOKEN_PATH, completedOptions, givenSettings } from '../token-exchange/instance.js';
import { REMEDIES } from '../config/remedies.js';
import type { Clock } from '../platform/clock.js';
import { ROLE_NAMES } from '../users/role.js';
import { PROJECT_ROLES_ASCENDING } from '../workspace/rights/rights.js';
import type { AvailabilitySettings } from './availability.js';
import { offeredUntilMs, unavailableBecause } from './availability.js';
import type { Startup } from '../config/startup.js';
import { JWKS_VARIABLES, trustedKeysRules } from './prepare-startup.js';

/** See user.repository.ts. */
export const USER_TABLE: UserTable = {
  name: 'user_account',
  idType: 'uuid',
  columns: {
    id: 'id',
    role: 'role',
    enabled: 'enabled',
    givenName: 'given_name',
    familyName: 'family_name',
    accessGeneration: 'access_generation',
  },
};

type Configured = Pick<Startup, 'config' | 'given' | 'license' | 'trustedKeys'>;

/**
 * Whether the feature is available.
 * @rule 1.4 = 7.1 Without the flag or the licence the module is not loaded, and both endpoints return 404.
 */
export function isTokenExchangeOffered(startup: AvailabilitySettings, clock: Clock): boolean {
  return unavailableBecause(startup, clock.nowMs()) === undefined;
}

export function tokenExchangeSettings(startup: Configured, clock: Clock): TokenExchangeSettings {
  const { config, trustedKeys } = startup;
  const { baseUrl, scopes } = trustedKeysRules(config);
  const untilMs = offeredUntilMs(startup);
  return {
    trustedKeys,
    strict: config.strict,
    entryRules: { baseUrl, scopes },
    roles: { ...ROLE_NAMES, inProject: PROJECT_ROLES_ASCENDING },
    userTable: USER_TABLE,
    embedLogin: { enabled: config.embedLoginEnabled, perMinute: config.embedLoginsPerMinute },
    exchange: {
      enabled: config.exchangeEnabled,
      perMinute: config.exchangesPerMinute,
      maxTokenLifetimeSeconds: config.maxTokenLifetimeSeconds,
    },
    idAssertion: { enabled: config.idAssertionEnabled },
    tokenIntrospection: { perMinute: config.introspectionsPerMinute },
    logout: { perMinute: config.logoutsPerMinute },
    signals: { perMinute: config.signalsPerMinute, transmitters: config.transmitters },
    replayPurge: {
      intervalSeconds: config.jtiCleanupIntervalSeconds,
      batchSize: config.jtiCleanupBatchSize,
    },
    jwks: {
      refreshIntervalSeconds: config.keyRefreshIntervalSeconds,
      allowHttp: config.jwksAllowHttp,
      allowPrivate: config.jwksAllowPrivate,
      settingNames: JWKS_VARIABLES,
    },
    isOffered: () => clock.nowMs() < untilMs,
  };
}

/** The rules with which the service checks the tokens that it receives. */
export function explanationRules(startup: Configured, clock: Clock): ExplanationRules {
  const options = completedOptions(givenSettings(tokenExchangeSettings(startup, clock)));
  const { baseUrl: audience, sessionLifetimeSeconds } = startup.config;
  const tokenEndpoint = audience + TOKEN_PATH;
  return { options: { ...options, tokenEndpoint }, audience, sessionLifetimeSeconds, remedies: REMEDIES };
}
