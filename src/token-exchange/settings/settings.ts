// Every setting of the package, one row each: what documents, defaults, ranges and variables of a host are made of.
import type { SessionSettings } from '../sessions/session-cookie.js';
import { SESSION_COOKIE } from '../sessions/session-cookie.js';
import type { JwksSettingNames } from '../trust/entry-rules.js';
import { JWKS_SETTING_NAMES } from '../trust/entry-rules.js';
import type {
  AccessTokenSettings,
  EmbedLoginSettings,
  EntryRulesSettings,
  ExchangeSettings,
  IdAssertionSettings,
  JwksSettings,
  LimitedEndpointSettings,
  ReplayPurgeSettings,
  RoleNames,
  RouteSettings,
  TokenExchangeSettings,
  UserTable,
} from './token-exchange.options.js';
import { PATH_PREFIX } from './token-exchange.options.js';

export interface SettingRow {
  /** Sentences in Markdown. */
  readonly description: string;
  /** The value where it is not given; absent where there is none, or it depends. */
  readonly default?: string | number | boolean | readonly [];
  /** The default in words; else `default` has it. */
  readonly otherwise?: string;
  /** The range in words, for a value that is no number. */
  readonly range?: string;
  /** Both ends are included. */
  readonly min?: number;
  readonly max?: number;
  /** The members of a value that has some. */
  readonly members?: Members;
}

/** Members by their names: a row each, or a section of rows. `true` is known and not described. */
export type MembersOf<T> = Readonly<Record<keyof T, true | SettingRow | Members>>;
export interface Members {
  readonly [name: string]: true | SettingRow | Members;
}

export function isRow(member: true | SettingRow | Members): member is SettingRow {
  return typeof member === 'object' && typeof member.description === 'string';
}

const DAY_SECONDS = 86_400;
/** Requests in a minute, or more than any client sends. */
const PER_MINUTE = { min: 1, max: 1_000_000 };
const BY_ADDRESS = 'Maximum number of requests per client address and minute at';

const JWKS = {
  refreshIntervalSeconds: {
    description: 'Time between JWKS fetches, in seconds, where neither the answer nor the entry gives one.',
    default: 300,
    min: 1,
    max: DAY_SECONDS,
  },
  maxStaleSeconds: {
    description: 'How long fetched keys stay valid past their time while fetches fail, in seconds.',
    default: DAY_SECONDS,
    min: 0,
    max: DAY_SECONDS,
  },
  allowHttp: {
    description: 'Allows `http:` and loopback JWKS addresses. For tests and demonstrations only.',
    default: false,
  },
  allowPrivate: {
    description: 'Non-public networks that JWKS addresses may lie in.',
    default: [],
    otherwise: 'none',
    range: 'CIDR ranges',
  },
  settingNames: {
    description:
      'How messages name the two settings above, where your host has settings of its own for them.',
    otherwise: Object.values(JWKS_SETTING_NAMES)
      .map((name) => `\`${name}\``)
      .join(', '),
    members: { allowHttp: true, allowPrivate: true } satisfies MembersOf<JwksSettingNames>,
  },
} satisfies MembersOf<JwksSettings>;

const ROLES = {
  assignable: { description: 'Roles that a `role` claim may assign.' },
  owner: { description: 'The role that is never assigned, changed or taken away.' },
  initial: { description: 'The role of a new user without a role claim, one of `roles.assignable`.' },
  privileged: {
    description: 'Roles of administrators: a token must not take over such an account by its e-mail address.',
    otherwise: 'every role but the initial',
  },
  inProject: {
    description:
      'The roles of members of a project, the lowest first; members with the last one administer it. Needed with the part `projects`.',
    otherwise: 'none',
  },
} satisfies MembersOf<RoleNames>;

const ENTRY_RULES = {
  baseUrl: {
    description: 'The address of your API: the service refuses, or warns of, an entry that names it wrongly.',
    otherwise: '`accessTokens.issuer`',
    range: 'a URL without a slash at its end',
  },
  scopes: {
    description: 'The scopes that your API asks for: the service warns of an entry that names others.',
    otherwise: 'any',
  },
} satisfies MembersOf<EntryRulesSettings>;

const USER_TABLE = {
  description:
    'The table of your users, so that nearly no request needs a transaction ([below](#no-transaction-for-most-requests)).',
  otherwise: 'none',
  members: {
    name: true,
    idType: true,
    columns: {
      id: true,
      role: true,
      enabled: true,
      givenName: true,
      familyName: true,
      accessGeneration: true,
    } satisfies MembersOf<UserTable['columns']>,
  } satisfies MembersOf<UserTable>,
};

const ACCESS_TOKENS = {
  issuer: {
    description: '`iss` and `aud` of access tokens: the origin of your API.',
    otherwise: 'needed',
    range: 'a URL without a slash at its end',
  },
  sealingKeys: {
    description: 'Keys that seal the signing keys at rest: the first seals, all unseal.',
    otherwise: 'needed',
    range: '32 bytes each',
  },
  dpopNonce: {
    description:
      'Whether each DPoP proof needs a nonce of the service, at the token endpoint and at the API, so that nobody can sign proofs in advance.',
    default: false,
  },
} satisfies MembersOf<AccessTokenSettings>;

const SESSIONS = {
  lifetimeSeconds: {
    description: 'Life of an embedded session, in seconds, counted from its login.',
    default: 3600,
    min: 60,
    max: DAY_SECONDS,
  },
  maxPerUser: {
    description:
      'Maximum number of live sessions of a user; every two minutes the service ends the oldest ones above it.',
    default: 100,
    min: 1,
    max: 10_000,
  },
  partitioned: {
    description:
      'Adds `Partitioned` to the session cookie, so that it works where third-party cookies are blocked.',
    default: true,
  },
  cookieName: {
    description: 'The name of the session cookie.',
    default: SESSION_COOKIE,
    range: '`__Host-` and letters, digits, `_` and `-`',
  },
} satisfies MembersOf<SessionSettings>;

/** The sections and single settings of `TokenExchangeSettings`. */
export const SETTINGS = {
  trustedKeys: {
    description:
      'The JSON text of [trusted key entries](../../../docs/trusted-keys.md), or what `readTrustedKeys` made of it.',
  },
  entryRules: ENTRY_RULES,
  userTable: USER_TABLE,
  roles: ROLES,
  strict: {
    description:
      'Refuses what a trusted key entry does not allow ([strict policy](../../../docs/trusted-keys.md#policy)), and answers a login by GET with 405.',
    default: true,
  },
  eventPrefix: {
    description: 'Prefix of the names under which events are emitted; the `name` in an event stays as it is.',
    otherwise: '`svc.audit.`',
  },
  accessTokens: ACCESS_TOKENS,
  sessions: SESSIONS,
  embedLogin: {
    enabled: { description: 'Turns embedded login on; off, it answers 501.', default: true },
    perMinute: { description: `${BY_ADDRESS} \`/rest/auth/embed\`.`, default: 20, ...PER_MINUTE },
  } satisfies MembersOf<EmbedLoginSettings>,
  exchange: {
    enabled: { description: 'Turns token exchange on; off, it answers 501.', default: true },
    perMinute: { description: `${BY_ADDRESS} \`/rest/auth/oauth/token\`.`, default: 20, ...PER_MINUTE },
    /** @rule 8.1 At most 900 seconds unless configured. See issuance.planner.ts, which applies it (4.2.5). */
    maxTokenLifetimeSeconds: {
      description: 'Longest life of an issued access token, in seconds.',
      default: 900,
      min: 5,
      max: DAY_SECONDS,
    },
  } satisfies MembersOf<ExchangeSettings>,
  idAssertion: {
    enabled: {
      description:
        'Lets the token endpoint accept identity assertions (ID-JAG, RFC 7523) of entries whose `flows` contain `id-jag`, for `accessTokens.issuer` or `entryRules.baseUrl`.',
      default: false,
    },
    maxLifetimeSeconds: {
      description: 'Longest life of an identity assertion from `iat` to `exp`, in seconds.',
      default: 300,
      min: 1,
      max: 3600,
    },
  } satisfies MembersOf<IdAssertionSettings>,
  tokenRevocation: {
    perMinute: { description: `${BY_ADDRESS} \`/rest/auth/oauth/revoke\`.`, default: 60, ...PER_MINUTE },
  } satisfies MembersOf<LimitedEndpointSettings>,
  tokenIntrospection: {
    perMinute: { description: `${BY_ADDRESS} \`/rest/auth/oauth/introspect\`.`, default: 600, ...PER_MINUTE },
  } satisfies MembersOf<LimitedEndpointSettings>,
  logout: {
    perMinute: {
      description: `${BY_ADDRESS} \`/rest/auth/backchannel-logout\`, and logouts per issuer and minute.`,
      default: 600,
      ...PER_MINUTE,
    },
  } satisfies MembersOf<LimitedEndpointSettings>,
  clockToleranceSeconds: {
    description: 'Tolerance for `nbf` and a future `iat`, in seconds; `exp` has none.',
    default: 5,
    min: 0,
    max: 60,
  },
  replayPurge: {
    intervalSeconds: {
      description: 'Time between purges of expired replay records, in seconds.',
      default: 60,
      min: 1,
      max: DAY_SECONDS,
    },
    batchSize: {
      description: 'Maximum number of replay records that one purge statement deletes.',
      default: 1000,
      min: 1,
      max: 100_000,
    },
  } satisfies MembersOf<ReplayPurgeSettings>,
  /** @rule 8.2 Every 300 seconds where no cache life is given. See jwks-refresh.ts, which waits so long. */
  jwks: JWKS,
  isOffered: {
    description: 'A function that is called at each request; while it says no, the endpoints answer 404.',
    otherwise: 'always',
  },
} satisfies MembersOf<TokenExchangeSettings>;

/** What makes the routes, given beside the settings. */
export const ROUTES = {
  pathPrefix: {
    description:
      'Prefix of the paths of the endpoints, after a global prefix of yours; beside `useFactory` in `registerAsync`.',
    default: PATH_PREFIX,
    range: 'a path without a slash at its end',
  },
  metadata: {
    description: 'Publishes key set and metadata at `/.well-known`; beside `useFactory` in `registerAsync`.',
    default: false,
  },
} satisfies MembersOf<RouteSettings>;
