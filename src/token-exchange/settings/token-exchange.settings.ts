// Completes what a host says by the defaults, and refuses what cannot be meant.
import type { SessionSettings } from '../sessions/session-cookie.js';
import type { Log } from '../../platform/log/log.js';
import { SILENT } from '../../platform/log/log.js';
import { mayMean } from '../../platform/text/uri.js';
import type { TrustedKeysRules } from '../trust/entry-rules.js';
import type { TrustedKeyEntry } from '../trust/trusted-key.js';
import { areStrict, isRead, readTrustedKeys } from '../trust/trusted-key-entry.js';
import type { SettingRow, Members } from './settings.js';
import { ROUTES, SETTINGS, isRow } from './settings.js';
import type {
  AccessTokenSettings,
  RoleNames,
  RouteSettings,
  TokenExchangeOptions,
  TokenExchangeSettings,
} from './token-exchange.options.js';
import { parsedUrl } from '../../platform/text/url.js';
import { didYouMean } from '../../platform/text/wording.js';

const SEALING_KEY_BYTES = 32;

/** What has no default. */
const NEEDED = ['trustedKeys', 'roles', 'roles.assignable', 'roles.owner', 'roles.initial'];
const NEEDED_OF_TABLE = [
  'userTable.name',
  'userTable.idType',
  ...Object.keys(SETTINGS.userTable.members.columns).map((name) => `userTable.columns.${name}`),
];

/** @throws RangeError for members that are not known, or that untyped code has left out, as a variable that is not set does */
export function givenSettings(settings: TokenExchangeSettings | undefined): TokenExchangeSettings {
  if (settings === undefined) throw new RangeError('useFactory: has to return the settings');
  refuseUnknownMembers(settings, SETTINGS);
  const needed = settings.userTable === undefined ? NEEDED : [...NEEDED, ...NEEDED_OF_TABLE];
  const missing = needed.find((path) => valueAt(path, settings) === undefined);
  if (missing !== undefined) throw new RangeError(`${missing}: is needed`);
  return settings;
}

function valueAt(path: string, settings: object): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], settings);
}

/**
 * The options for settings that `givenSettings` has taken. Notes about the trusted keys are logged.
 * @throws RangeError naming the setting; Error with all problems of the trusted keys
 */
export function completedOptions(settings: TokenExchangeSettings, log: Log = SILENT): TokenExchangeOptions {
  const { clockToleranceSeconds: tolerance } = SETTINGS;
  const {
    roles,
    strict = SETTINGS.strict.default,
    clockToleranceSeconds = tolerance.default,
    isOffered = () => true,
  } = settings;
  refuseRoles(roles);
  const { baseUrl } = settings.entryRules ?? {};
  if (baseUrl !== undefined) refuseAddress('entryRules.baseUrl', baseUrl);
  const sections = completedSections(settings);
  // An assertion is for the issuer of the host's access tokens.
  if (sections.idAssertion.enabled && ownIssuer(settings) === undefined)
    throw new RangeError('idAssertion.enabled: needs accessTokens.issuer or entryRules.baseUrl');
  return {
    roles,
    strict,
    ownIssuer: ownIssuer(settings),
    isOffered,
    ...sections,
    trustedKeys: trustedKeys(settings, log),
    clockToleranceSeconds: whole('clockToleranceSeconds', clockToleranceSeconds, tolerance),
    userTable: settings.userTable,
    eventPrefix: settings.eventPrefix,
  };
}

/** @throws RangeError */
export function completedSessions({ sessions }: TokenExchangeSettings): SessionSettings {
  const settings = completed('sessions', sessions);
  if (!/^__Host-[\w-]+$/.test(settings.cookieName))
    throw new RangeError('sessions.cookieName: must be __Host- and letters, digits, _ or -');
  return settings;
}

/** @throws RangeError where a member is missing or out of its range */
export function completedAccessTokens({ accessTokens }: TokenExchangeSettings): AccessTokenSettings {
  if (accessTokens === undefined) {
    throw new RangeError('accessTokens: is needed, with issuer and sealingKeys');
  }
  const { issuer, sealingKeys } = accessTokens;
  refuseAddress('accessTokens.issuer', issuer);
  if (sealingKeys.length === 0 || sealingKeys.some(({ length }) => length !== SEALING_KEY_BYTES))
    throw new RangeError(
      `accessTokens.sealingKeys: must be one key or more, of ${SEALING_KEY_BYTES} bytes each`,
    );
  return accessTokens;
}

/** Tokens name it as it is written, and paths are put behind it. @throws RangeError */
function refuseAddress(name: string, address: string): void {
  if (parsedUrl(address) === undefined) throw new RangeError(`${name}: must be a URL`);
  if (address.endsWith('/')) throw new RangeError(`${name}: must have no slash at its end`);
}

/** @throws RangeError */
export function completedRoutes({
  pathPrefix = ROUTES.pathPrefix.default,
  metadata = ROUTES.metadata.default,
}: RouteSettings): Required<RouteSettings> {
  if (!/^(\/[\w.~-]+)*$/.test(pathPrefix))
    throw new RangeError('pathPrefix: must be a path such as /rest/auth, with no slash at its end');
  return { pathPrefix, metadata };
}

/** What has a default, or a value that is given, for every member. */
const SECTIONS = [
  ...(['embedLogin', 'exchange', 'idAssertion', 'tokenRevocation', 'tokenIntrospection', 'logout'] as const),
  ...(['replayPurge', 'jwks'] as const),
] as const;
type CompletedSections = Pick<TokenExchangeOptions, (typeof SECTIONS)[number]>;
type Sections = CompletedSections & { sessions: SessionSettings };

function completedSections(settings: TokenExchangeSettings): CompletedSections {
  // The loop fills exactly these members, which TypeScript cannot follow.
  return Object.fromEntries(
    SECTIONS.map((name) => [name, completed(name, settings[name])]),
  ) as unknown as CompletedSections;
}

/** @throws RangeError naming the member of the section that is out of its range */
function completed<Name extends keyof Sections>(
  section: Name,
  given: Readonly<Record<string, unknown>> = {},
): Sections[Name] {
  const members = Object.entries<SettingRow>(SETTINGS[section]).map(([name, row]) => {
    const { [name]: value = row.default } = given;
    return [name, row.min === undefined ? value : whole(`${section}.${name}`, value, row)];
  });
  // The loop fills exactly the members of the section, which TypeScript cannot follow.
  return Object.fromEntries(members) as Sections[Name];
}

/** The rules for trusted key entries. */
export function entryRules(settings: TokenExchangeSettings): TrustedKeysRules {
  const { roles, strict = SETTINGS.strict.default, jwks, accessTokens } = settings;
  const { baseUrl = accessTokens?.issuer, scopes } = settings.entryRules ?? {};
  const { allowHttp, allowPrivate } = completed('jwks', jwks);
  const { assignable, owner, initial, privileged } = roles;
  return {
    assignableRoles: assignable,
    projectRoles: roles.inProject,
    privilegedRoles: [owner, ...(privileged ?? assignable.filter((role) => role !== initial))],
    allowHttp,
    allowPrivate,
    jwksSettingNames: jwks?.settingNames,
    defaults: strict ? 'strict' : 'contract',
    baseUrl,
    ownIssuer: ownIssuer(settings),
    userIdType: settings.userTable?.idType,
    scopes,
  };
}

/** Undefined where `AccessTokenService` is imported and the host does not say. */
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
    if (own !== undefined && given.some(({ issuer }) => mayMean(issuer, own)))
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
  if (!assignable.includes(initial)) throw new RangeError('roles.initial: must be one of roles.assignable');
}

function whole(name: string, value: unknown, { min = 0, max = Infinity }: SettingRow): number {
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return Number(value);
  throw new RangeError(`${name}: must be a whole number from ${min} to ${max}`);
}

/** @throws RangeError that lists the members which are not known, with the names that they may have meant */
export function refuseUnknownMembers(given: object, known: Members): void {
  const unknown = unknownMembers(given, known);
  if (unknown.length > 0) throw new RangeError(unknown.join('\n'));
}

function unknownMembers(given: object, known: Members, path = ''): string[] {
  return Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    const member = Object.hasOwn(known, name) ? known[name] : undefined;
    if (member === undefined) return [`${path}${name}: is not known${didYouMean(name, Object.keys(known))}`];
    const members = member !== true && isRow(member) ? member.members : member;
    if (members === undefined || members === true || typeof value !== 'object' || value === null) return [];
    return unknownMembers(value, members, `${path}${name}.`);
  });
}
