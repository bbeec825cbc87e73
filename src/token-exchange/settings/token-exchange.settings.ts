// Completes a host's settings by the defaults, and refuses invalid ones.
import type { z } from 'zod';
import { read } from '../../platform/input/schemas.js';
import type { Log } from '../../platform/log/log.js';
import { SILENT } from '../../platform/log/log.js';
import { mayMean } from '../../platform/text/uri.js';
import type { TrustedKeysRules } from '../trust/entry-rules.js';
import type { TrustedKeyEntry } from '../trust/trusted-key.js';
import { areStrict, isRead, readTrustedKeys } from '../trust/trusted-key-entry.js';
import { ROUTES, SETTINGS } from './settings.js';
import type {
  AccessTokenSettings,
  GivenSettings,
  RouteSettings,
  TokenExchangeOptions,
  TokenExchangeSettings,
} from './token-exchange.options.js';

/**
 * The settings with their defaults.
 * @throws RangeError with a line for each setting that is unknown, missing, or breaks its rule
 */
export function givenSettings(settings: TokenExchangeSettings | undefined): GivenSettings {
  if (settings === undefined) throw new RangeError('useFactory: has to return the settings');
  return checked(SETTINGS, settings);
}

/** @throws RangeError likewise */
export function completedRoutes(routes: RouteSettings): z.output<typeof ROUTES> {
  return checked(ROUTES, routes);
}

function checked<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const reading = read(schema, input);
  if ('value' in reading) return reading.value;
  throw new RangeError(reading.problems.map(({ path, rule }) => `${path}: ${rule}`).join('\n'));
}

/**
 * The options for the settings of `givenSettings`. Logs warnings about the trusted keys.
 * @throws RangeError naming the setting; Error with all problems of the trusted keys
 */
export function completedOptions(settings: GivenSettings, log: Log = SILENT): TokenExchangeOptions {
  const {
    accessTokens: _tokens,
    sessions: _sessions,
    entryRules: _rules,
    isOffered = () => true,
    ...others
  } = settings;
  // The audience of an assertion is the issuer of the host's access tokens.
  if (settings.idAssertion.enabled && ownIssuer(settings) === undefined)
    throw new RangeError('idAssertion.enabled: needs accessTokens.issuer or entryRules.baseUrl');
  return { ...others, ownIssuer: ownIssuer(settings), isOffered, trustedKeys: trustedKeys(settings, log) };
}

/** @throws RangeError if they are missing */
export function completedAccessTokens({ accessTokens }: GivenSettings): AccessTokenSettings {
  if (accessTokens !== undefined) return accessTokens;
  throw new RangeError('accessTokens: is needed, with issuer and sealingKeys');
}

/** The rules for trusted key entries. */
export function entryRules(settings: GivenSettings): TrustedKeysRules {
  const { roles, strict, jwks, accessTokens } = settings;
  const { baseUrl = accessTokens?.issuer, scopes } = settings.entryRules ?? {};
  const { assignable, owner, initial, privileged } = roles;
  return {
    assignableRoles: assignable,
    projectRoles: roles.inProject,
    privilegedRoles: [owner, ...(privileged ?? assignable.filter((role) => role !== initial))],
    allowHttp: jwks.allowHttp,
    allowPrivate: jwks.allowPrivate,
    jwksSettingNames: jwks.settingNames,
    defaults: strict ? 'strict' : 'contract',
    baseUrl,
    ownIssuer: ownIssuer(settings),
    userIdType: settings.userTable?.idType,
    scopes,
  };
}

function ownIssuer({ accessTokens, entryRules: { baseUrl } = {} }: GivenSettings): string | undefined {
  return accessTokens?.issuer ?? baseUrl;
}

function trustedKeys(settings: GivenSettings, log: Log): readonly TrustedKeyEntry[] {
  const { trustedKeys: given } = settings;
  if (isRead(given)) {
    if (settings.strict && !areStrict(given))
      throw new Error(
        "strict: the trusted keys were read without it; give readTrustedKeys defaults: 'strict'",
      );
    const own = ownIssuer(settings);
    if (own !== undefined && given.some(({ issuer }) => mayMean(issuer, own)))
      throw new Error('trustedKeys: an entry has the issuer of the access tokens of this host');
    if (settings.roles.inProject === undefined && given.some(({ projects }) => projects !== undefined))
      throw new Error('trustedKeys: an entry has projects, and roles.inProject is not set');
    return given;
  }
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const { entries, problems, warnings } = readTrustedKeys(text, entryRules(settings));
  if (problems.length > 0) throw new Error(['trustedKeys:', ...problems].join('\n  '));
  for (const warning of warnings) log.warn({}, `trustedKeys: ${warning}`);
  return entries;
}
