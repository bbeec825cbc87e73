// Completes what a host says by the defaults, and refuses what cannot be meant.
import type { Log } from '../../platform/log/log.js';
import { SILENT } from '../../platform/log/log.js';
import { isSameAddress } from '../../platform/text/origin.js';
import type { TrustedKeysRules } from '../trust/entry-reader.js';
import type { TrustedKeyEntry } from '../trust/trusted-key.js';
import { areStrict, isRead, readTrustedKeys } from '../trust/trusted-key-entry.js';
import { SESSION_COOKIE } from '../sessions/session-cookie.js';
import type { SessionOptions } from '../sessions/session.options.js';
import { SETTINGS, refuseUnknownMembers } from './known-members.js';
import type {
  AccessTokenSettings,
  EmbedLoginSettings,
  ExchangeSettings,
  IdAssertionSettings,
  JwksSettings,
  LogoutSettings,
  ReplayPurgeSettings,
  RoleNames,
  RouteSettings,
  TokenExchangeOptions,
  TokenExchangeSettings,
  TokenRevocationSettings,
} from './token-exchange.options.js';
import { PATH_PREFIX } from './token-exchange.options.js';

const DAY_SECONDS = 86_400;
const MAX_PER_MINUTE = 1_000_000;
const SEALING_KEY_BYTES = 32;

/**
 * The options that settings stand for. What the trusted keys' author may not expect is logged.
 * @throws RangeError naming the setting; Error with all problems of the trusted keys
 */
export function completedOptions(settings: TokenExchangeSettings, log: Log = SILENT): TokenExchangeOptions {
  refuseUnknownMembers(settings, SETTINGS);
  const { roles, strict = true, clockToleranceSeconds = 5, isAvailable = () => true } = settings;
  refuseRoles(roles);
  return {
    roles,
    strict,
    ownIssuer: ownIssuer(settings),
    isAvailable,
    jwks: completedJwks(settings.jwks),
    trustedKeys: trustedKeys(settings, log),
    embedLogin: completedEmbedLogin(settings.embedLogin),
    exchange: completedExchange(settings.exchange),
    idAssertion: completedIdAssertion(settings),
    tokenRevocation: completedTokenRevocation(settings.tokenRevocation),
    logout: completedLogout(settings.logout),
    clockToleranceSeconds: whole('clockToleranceSeconds', clockToleranceSeconds, 0, 60),
    replayPurge: completedPurge(settings.replayPurge),
    userTable: settings.userTable,
    eventPrefix: settings.eventPrefix,
  };
}

/** @throws RangeError */
export function completedSessions({ sessions = {} }: TokenExchangeSettings): SessionOptions {
  const {
    lifetimeSeconds = 3600,
    partitioned = true,
    maxPerUser = 100,
    cookieName = SESSION_COOKIE,
  } = sessions;
  if (!/^__Host-[\w-]+$/.test(cookieName))
    throw new RangeError('sessions.cookieName: must be __Host- and letters, digits, _ or -');
  return {
    cookieName,
    sessionLifetimeSeconds: whole('sessions.lifetimeSeconds', lifetimeSeconds, 60, DAY_SECONDS),
    maxSessionsPerUser: whole('sessions.maxPerUser', maxPerUser, 1, 10_000),
    partitionedCookie: partitioned,
  };
}

/** @throws RangeError where the host brings neither access tokens of its own nor what those of this package need */
export function completedAccessTokens({ accessTokens }: TokenExchangeSettings): AccessTokenSettings {
  if (accessTokens === undefined) {
    throw new RangeError(
      'accessTokens: is needed, with issuer and sealingKeys, unless the host brings access tokens of its own',
    );
  }
  const { issuer, sealingKeys } = accessTokens;
  if (!URL.canParse(issuer)) throw new RangeError('accessTokens.issuer: must be a URL');
  if (sealingKeys.length === 0 || sealingKeys.some(({ length }) => length !== SEALING_KEY_BYTES))
    throw new RangeError(
      `accessTokens.sealingKeys: must be one key or more, of ${SEALING_KEY_BYTES} bytes each`,
    );
  return accessTokens;
}

/** @throws RangeError */
export function completedRoutes({
  pathPrefix = PATH_PREFIX,
  metadata = false,
}: RouteSettings): Required<RouteSettings> {
  if (!/^(\/[\w.~-]+)*$/.test(pathPrefix))
    throw new RangeError('pathPrefix: must be a path such as /rest/auth, with no slash at its end');
  return { pathPrefix, metadata };
}

function completedEmbedLogin({
  enabled = true,
  perMinute = 20,
}: Partial<EmbedLoginSettings> = {}): EmbedLoginSettings {
  return { enabled, perMinute: whole('embedLogin.perMinute', perMinute, 1, MAX_PER_MINUTE) };
}

function completedExchange({
  enabled = true,
  perMinute = 20,
  maxTokenLifetimeSeconds = 900,
}: Partial<ExchangeSettings> = {}): ExchangeSettings {
  return {
    enabled,
    perMinute: whole('exchange.perMinute', perMinute, 1, MAX_PER_MINUTE),
    maxTokenLifetimeSeconds: whole(
      'exchange.maxTokenLifetimeSeconds',
      maxTokenLifetimeSeconds,
      5,
      DAY_SECONDS,
    ),
  };
}

/** An assertion is for the issuer of the host's access tokens. */
function completedIdAssertion(settings: TokenExchangeSettings): IdAssertionSettings {
  const { enabled = false, maxLifetimeSeconds = 300 } = settings.idAssertion ?? {};
  if (enabled && ownIssuer(settings) === undefined)
    throw new RangeError('idAssertion.enabled: needs accessTokens.issuer or entryRules.baseUrl');
  return {
    enabled,
    maxLifetimeSeconds: whole('idAssertion.maxLifetimeSeconds', maxLifetimeSeconds, 1, 3_600),
  };
}

function completedTokenRevocation({
  perMinute = 60,
}: Partial<TokenRevocationSettings> = {}): TokenRevocationSettings {
  return { perMinute: whole('tokenRevocation.perMinute', perMinute, 1, MAX_PER_MINUTE) };
}

function completedLogout({ perMinute = 600 }: Partial<LogoutSettings> = {}): LogoutSettings {
  return { perMinute: whole('logout.perMinute', perMinute, 1, MAX_PER_MINUTE) };
}

function completedPurge({
  intervalSeconds = 60,
  batchSize = 1000,
}: Partial<ReplayPurgeSettings> = {}): ReplayPurgeSettings {
  return {
    intervalSeconds: whole('replayPurge.intervalSeconds', intervalSeconds, 1, DAY_SECONDS),
    batchSize: whole('replayPurge.batchSize', batchSize, 1, 100_000),
  };
}

function completedJwks({
  refreshIntervalSeconds = 300,
  maxStaleSeconds = DAY_SECONDS,
  allowHttp = false,
  allowPrivate = [],
  settingNames,
}: Partial<JwksSettings> = {}): JwksSettings {
  return {
    allowHttp,
    allowPrivate,
    settingNames,
    refreshIntervalSeconds: whole('jwks.refreshIntervalSeconds', refreshIntervalSeconds, 1, DAY_SECONDS),
    maxStaleSeconds: whole('jwks.maxStaleSeconds', maxStaleSeconds, 0, DAY_SECONDS),
  };
}

/** What entries of the trusted keys are checked by. */
export function entryRules(settings: TokenExchangeSettings): TrustedKeysRules {
  const { roles, strict = true, jwks, accessTokens } = settings;
  const { baseUrl = accessTokens?.issuer, scopes } = settings.entryRules ?? {};
  const { assignable, owner, initial, privileged } = roles;
  return {
    assignableRoles: assignable,
    projectRoles: roles.inProject,
    privilegedRoles: [owner, ...(privileged ?? assignable.filter((role) => role !== initial))],
    allowHttp: completedJwks(jwks).allowHttp,
    allowPrivate: completedJwks(jwks).allowPrivate,
    jwksSettingNames: jwks?.settingNames,
    defaults: strict ? 'strict' : 'contract',
    baseUrl,
    ownIssuer: ownIssuer(settings),
    scopes,
  };
}

/** Undefined where a host with access tokens of its own does not say. */
function ownIssuer({
  accessTokens,
  entryRules: { baseUrl } = {},
}: TokenExchangeSettings): string | undefined {
  return accessTokens?.issuer ?? baseUrl;
}

function trustedKeys(settings: TokenExchangeSettings, log: Log): readonly TrustedKeyEntry[] {
  const { trustedKeys: given } = settings;
  if (isRead(given)) {
    if (settings.strict !== false && !areStrict(given))
      throw new Error(
        "strict: the trusted keys were read without it; give readTrustedKeys defaults: 'strict'",
      );
    const own = ownIssuer(settings);
    if (own !== undefined && given.some(({ issuer }) => isSameAddress(issuer, own)))
      throw new Error('trustedKeys: an entry has the issuer of the access tokens of this host');
    if (settings.roles.inProject === undefined && given.some(({ projects }) => projects !== undefined))
      throw new Error('trustedKeys: an entry has projects, and roles.inProject is not set');
    return given;
  }
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const { entries, problems, warnings, notes } = readTrustedKeys(text, entryRules(settings));
  if (problems.length > 0) throw new Error(['trustedKeys:', ...problems].join('\n  '));
  for (const warning of warnings) log.warn({}, `trustedKeys: ${warning}`);
  for (const note of notes) log.info({}, `trustedKeys: ${note}`);
  return entries;
}

/** 2.5.4: a host that lists the owner's role would otherwise learn from the log that the claim is ignored. */
function refuseRoles({ assignable, owner, initial }: RoleNames): void {
  if (assignable.includes(owner))
    throw new RangeError('roles.assignable: must not have the role of roles.owner');
  if (initial === owner) throw new RangeError('roles.initial: must not be the role of roles.owner');
  if ([...assignable, owner, initial].includes('')) throw new RangeError('roles: a role must have a name');
}

function whole(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(`${name}: must be a whole number from ${min} to ${max}`);
}
