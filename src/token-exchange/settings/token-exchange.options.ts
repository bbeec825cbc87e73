// What a host gives the module: plain values. Their defaults and ranges are in settings.ts, and in the README of the package.
import type { SessionSettings } from '../sessions/session-cookie.js';
import type { JwksSettingNames } from '../trust/entry-rules.js';
import type { TrustedKeyEntry } from '../trust/trusted-key.js';

/** Roles as the host names them; the rules about them are this module's. */
export interface RoleNames {
  /** Roles that a `role` claim may assign. */
  readonly assignable: readonly string[];
  /** The role that is never assigned, changed or taken away. */
  readonly owner: string;
  /** The role of a new user without a role claim. */
  readonly initial: string;
  /**
   * The roles whose users are administrators, whose accounts a token should not take over by their e-mail address.
   * The owner's is always one of them. Default: every role but the initial.
   */
  readonly privileged?: readonly string[];
  /** The roles of members of a project, the lowest first; the last one administers it. Needed with the part `projects`. */
  readonly inProject?: readonly string[];
}

/** Whether the users of a role are administrators. */
export function isPrivileged(role: string, { owner, initial, privileged }: RoleNames): boolean {
  return role === owner || (privileged?.includes(role) ?? role !== initial);
}

/** Embedded login. */
export interface EmbedLoginSettings {
  /** Whether the endpoint takes logins; else it answers 501. */
  readonly enabled: boolean;
  /** Requests per client address and minute. */
  readonly perMinute: number;
}

/** Token exchange. */
export interface ExchangeSettings {
  /** Whether the endpoint exchanges tokens; else it answers 501. */
  readonly enabled: boolean;
  /** Requests per client address and minute. */
  readonly perMinute: number;
  /** Upper bound of an issued token's life, in seconds. */
  readonly maxTokenLifetimeSeconds: number;
}

/** Identity assertions (ID-JAG): agents of a company, at the token endpoint. */
export interface IdAssertionSettings {
  /** Whether the token endpoint takes them; without them `grant_type` is as the contract says. */
  readonly enabled: boolean;
  /** Longest life of an assertion from `iat` to `exp`, in seconds. */
  readonly maxLifetimeSeconds: number;
}

/** An endpoint without a switch of its own: revocation (RFC 7009), introspection (RFC 7662), back-channel logout. */
export interface LimitedEndpointSettings {
  /** Requests per client address and minute; of logouts also verified ones per issuer and minute. */
  readonly perMinute: number;
}

/** The deletion of replay records whose tokens have expired. */
export interface ReplayPurgeSettings {
  /** Seconds between two. */
  readonly intervalSeconds: number;
  /** Most records that one statement deletes. */
  readonly batchSize: number;
}

/** The fetching of key sets. */
export interface JwksSettings {
  /** Seconds to the next fetch where neither the answer nor the entry names a time. */
  readonly refreshIntervalSeconds: number;
  /** Seconds for which keys serve past their time while the endpoint fails. */
  readonly maxStaleSeconds: number;
  /** Allows `http:` and loopback addresses. */
  readonly allowHttp: boolean;
  /** CIDR ranges that are not public and yet allowed. */
  readonly allowPrivate: readonly string[];
  /** What messages call the two above. */
  readonly settingNames?: JwksSettingNames;
}

/**
 * Where the host keeps its users, in the database of this package. With it the statement that uses up the tokens reads their users,
 * and only what changes something takes a transaction; without it every request does.
 */
export interface UserTable {
  /** With its schema, where that is not on the search path. Names are written as in SQL without quotes. */
  readonly name: string;
  /** The type of its ids. */
  readonly idType: 'uuid' | 'text' | 'bigint' | 'integer';
  readonly columns: {
    readonly id: string;
    readonly role: string;
    readonly enabled: string;
    readonly givenName: string;
    readonly familyName: string;
    /** What `HostUser.accessGeneration` is. A trigger that raises it where a user is disabled also sees a change by hand. */
    readonly accessGeneration: string;
  };
}

/** All that the module goes by, completed and checked. */
export interface TokenExchangeOptions {
  readonly trustedKeys: readonly TrustedKeyEntry[];
  /** A trusted key entry allows only what it says, and no GET signs in. */
  readonly strict: boolean;
  /** The `iss` of the host's own access tokens, which no external token and no entry may name; undefined: it is not known. */
  readonly ownIssuer?: string;
  /** Where clients know the token endpoint, as an `aud` may call it; undefined: it is not known. */
  readonly tokenEndpoint?: string;
  readonly roles: RoleNames;
  readonly embedLogin: EmbedLoginSettings;
  readonly exchange: ExchangeSettings;
  readonly idAssertion: IdAssertionSettings;
  readonly tokenRevocation: LimitedEndpointSettings;
  readonly tokenIntrospection: LimitedEndpointSettings;
  readonly logout: LimitedEndpointSettings;
  /** Tolerance for `nbf` and a future `iat`, in seconds. */
  readonly clockToleranceSeconds: number;
  readonly replayPurge: ReplayPurgeSettings;
  readonly jwks: JwksSettings;
  readonly userTable?: UserTable;
  /** What the names of emitted events begin with, in place of `svc.audit.`. */
  readonly eventPrefix?: string;
  /** Whether the endpoints are there at this moment, asked on every request; else they answer 404. Default: always. */
  readonly isOffered: () => boolean;
}

/** Facts of the host for the check of entries. */
export interface EntryRulesSettings {
  /**
   * The address of the host itself, for which every token is good that names no other service. Default `accessTokens.issuer`, and
   * taken for it where `AccessTokenService` is imported.
   */
  readonly baseUrl?: string;
  /** Scopes that the host's own API asks for; not checked where it is left out. */
  readonly scopes?: readonly string[];
}

/** The settings of a host: trusted keys and roles, and deviations from the defaults. */
export type TokenExchangeSettings = Pick<TokenExchangeOptions, 'roles'> & {
  /** The JSON text of the entries, or the value of that text; or entries that `readTrustedKeys` has made. */
  readonly trustedKeys: string | readonly object[];
  /** Rules for entries, stored ones too, beside roles, `jwks.allowHttp` and `strict`. */
  readonly entryRules?: EntryRulesSettings;
  readonly embedLogin?: Partial<EmbedLoginSettings>;
  readonly exchange?: Partial<ExchangeSettings>;
  readonly idAssertion?: Partial<IdAssertionSettings>;
  readonly tokenRevocation?: Partial<LimitedEndpointSettings>;
  readonly tokenIntrospection?: Partial<LimitedEndpointSettings>;
  readonly logout?: Partial<LimitedEndpointSettings>;
  readonly replayPurge?: Partial<ReplayPurgeSettings>;
  readonly jwks?: Partial<JwksSettings>;
} & Partial<
    Pick<TokenExchangeOptions, 'strict' | 'clockToleranceSeconds' | 'isOffered' | 'userTable' | 'eventPrefix'>
  > & {
    /** Not needed where `AccessTokenService` is imported. */
    readonly accessTokens?: AccessTokenSettings;
    /** For the sessions of this package; not needed where the host brings its own. */
    readonly sessions?: Partial<SessionSettings>;
  };

export interface AccessTokenSettings {
  /** `iss` and `aud` of every token: the origin of the host's API. */
  readonly issuer: string;
  /**
   * Seal the signing keys in the database: 32 bytes each. The first seals, all unseal, so that one can be replaced. Secret.
   */
  readonly sealingKeys: readonly Buffer[];
  /** Whether every DPoP proof needs a nonce of the host (RFC 9449 §8, §9). Default: none does. */
  readonly dpopNonce?: boolean;
}

/** What the paths of the endpoints begin with, unless the settings say otherwise. */
export const PATH_PREFIX = '/rest/auth';

/** Settings of the routes, needed at the registration, before anything is injected. */
export interface RouteSettings {
  /** What the paths of the endpoints begin with, behind a prefix of the host. */
  readonly pathPrefix?: string;
  /**
   * Publishes the key set and the metadata of the access tokens of this package at `/.well-known` (RFC 8414, RFC 9728), and has
   * challenges name them. Off for a host that has documents of its own there.
   */
  readonly metadata?: boolean;
}

/** Injection token of the settings that make the routes, with their defaults. */
export const ROUTE_SETTINGS = Symbol('ROUTE_SETTINGS');

/** Injection token of the options. */
export const TOKEN_EXCHANGE_OPTIONS = Symbol('TOKEN_EXCHANGE_OPTIONS');
