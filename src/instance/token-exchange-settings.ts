// Derives the settings of token exchange from the configuration, for its module and for explaining tokens, and
// names them in the remedies of refusals.
import { VARIABLES } from '../config/environment.js';
import type { Startup } from '../config/startup.js';
import type { Clock } from '../platform/clock.js';
import type {
  Explanation,
  ExplanationRules,
  TokenExchangeSettings,
  UserTable,
} from '../token-exchange/instance.js';
import { completedOptions, givenSettings, TOKEN_PATH } from '../token-exchange/instance.js';
import { ROLE_NAMES } from '../users/role.js';
import { PROJECT_ROLES_ASCENDING } from '../workspace/rights/rights.js';
import type { AvailabilitySettings } from './availability.js';
import { offeredUntilMs, unavailableBecause } from './availability.js';
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

const { featureFlag, exchangeEnabled, embedLoginEnabled, idAssertionEnabled, baseUrl } = VARIABLES;

/** By the code of the refusal; replaces the package's remedy. */
export const REMEDIES: Readonly<Record<string, string | undefined>> = {
  not_available: `read \`reason\` at \`GET /healthz/readiness\`; set \`${featureFlag.name}=true\`, or get a licence`,
  not_enabled: `set \`${exchangeEnabled.name}\`, \`${embedLoginEnabled.name}\` or \`${idAssertionEnabled.name}\` to true, and restart`,
  not_issued_here: `exchange the partner's token first; set the same \`${baseUrl.name}\` on all instances`,
};

/** The package's rows with these remedies. */
export function inOwnWords<Row extends Explanation>(
  rows: Readonly<Record<string, Row>>,
): Readonly<Record<string, Row>> {
  return Object.fromEntries(
    Object.entries(rows).map(([word, row]) => [word, { ...row, remedy: REMEDIES[word] ?? row.remedy }]),
  );
}
