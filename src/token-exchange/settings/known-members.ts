// The members that settings and parts of a host may have: a misspelt one would silently leave its default in force.
import { didYouMean } from '../../platform/text/similar-name.js';
import type { JwksSettingNames } from '../trust/jwks-url.js';
import type {
  AccessTokenSettings,
  EmbedLoginSettings,
  EntryRulesSettings,
  ExchangeSettings,
  IdAssertionSettings,
  JwksSettings,
  LogoutSettings,
  ReplayPurgeSettings,
  RoleNames,
  RouteSettings,
  SessionSettings,
  TokenExchangeSettings,
  TokenRevocationSettings,
  UserTable,
} from './token-exchange.options.js';

/** Each member by its name; a section with members of its own has theirs. */
export type MembersOf<T> = Readonly<Record<keyof T, true | object>>;

const JWKS = {
  refreshIntervalSeconds: true,
  maxStaleSeconds: true,
  allowHttp: true,
  allowPrivate: true,
  settingNames: { allowHttp: true, allowPrivate: true } satisfies MembersOf<JwksSettingNames>,
} satisfies MembersOf<JwksSettings>;

const USER_TABLE = {
  name: true,
  idType: true,
  columns: {
    id: true,
    version: true,
    role: true,
    enabled: true,
    givenName: true,
    familyName: true,
    accessGeneration: true,
  } satisfies MembersOf<UserTable['columns']>,
} satisfies MembersOf<UserTable>;

export const SETTINGS = {
  trustedKeys: true,
  strict: true,
  clockToleranceSeconds: true,
  isAvailable: true,
  eventPrefix: true,
  roles: {
    assignable: true,
    owner: true,
    initial: true,
    privileged: true,
    inProject: true,
  } satisfies MembersOf<RoleNames>,
  entryRules: { baseUrl: true, scopes: true } satisfies MembersOf<EntryRulesSettings>,
  embedLogin: { enabled: true, perMinute: true } satisfies MembersOf<EmbedLoginSettings>,
  idAssertion: { enabled: true, maxLifetimeSeconds: true } satisfies MembersOf<IdAssertionSettings>,
  exchange: {
    enabled: true,
    perMinute: true,
    maxTokenLifetimeSeconds: true,
  } satisfies MembersOf<ExchangeSettings>,
  logout: { perMinute: true } satisfies MembersOf<LogoutSettings>,
  tokenRevocation: { perMinute: true } satisfies MembersOf<TokenRevocationSettings>,
  replayPurge: { intervalSeconds: true, batchSize: true } satisfies MembersOf<ReplayPurgeSettings>,
  jwks: JWKS,
  userTable: USER_TABLE,
  accessTokens: { issuer: true, sealingKeys: true } satisfies MembersOf<AccessTokenSettings>,
  sessions: {
    lifetimeSeconds: true,
    maxPerUser: true,
    partitioned: true,
    cookieName: true,
  } satisfies MembersOf<SessionSettings>,
} satisfies MembersOf<TokenExchangeSettings>;

export const ROUTES = { pathPrefix: true, metadata: true } satisfies MembersOf<RouteSettings>;

/** @throws RangeError that lists the members which are not known, with the names that they may have meant */
export function refuseUnknownMembers(given: object, known: object): void {
  const unknown = unknownMembers(given, known);
  if (unknown.length > 0) throw new RangeError(unknown.join('\n'));
}

function unknownMembers(given: object, known: object, path = ''): string[] {
  const sections = new Map<string, unknown>(Object.entries(known));
  return Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    const section = sections.get(name);
    if (section === undefined) return [`${path}${name}: is not known${didYouMean(name, sections.keys())}`];
    if (!isObject(section) || !isObject(value)) return [];
    return unknownMembers(value, section, `${path}${name}.`);
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
