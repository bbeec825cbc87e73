// Types and injection tokens of the settings. Their defaults and ranges are in settings.ts, and in the README of the package.
import type { z } from 'zod';
import type { TrustedKeyEntry } from '../trust/trusted-key.js';
import type { ROUTES, SETTINGS } from './settings.js';

/** The settings of a host: trusted keys and roles, and deviations from the defaults. */
export type TokenExchangeSettings = z.input<typeof SETTINGS>;
/** The same with the defaults. */
export type GivenSettings = z.output<typeof SETTINGS>;

export type RoleNames = Readonly<GivenSettings['roles']>;
export type EmbedLoginSettings = Readonly<GivenSettings['embedLogin']>;
export type ExchangeSettings = Readonly<GivenSettings['exchange']>;
export type IdAssertionSettings = Readonly<GivenSettings['idAssertion']>;
/** An endpoint without a switch of its own: revocation (RFC 7009), introspection (RFC 7662), back-channel logout. */
export type LimitedEndpointSettings = Readonly<GivenSettings['logout']>;
export type ReplayPurgeSettings = Readonly<GivenSettings['replayPurge']>;
export type JwksSettings = Readonly<GivenSettings['jwks']>;
export type UserTable = Readonly<NonNullable<GivenSettings['userTable']>>;
export type EntryRulesSettings = Readonly<NonNullable<GivenSettings['entryRules']>>;
export type AccessTokenSettings = Readonly<NonNullable<TokenExchangeSettings['accessTokens']>>;
export type SessionSettings = Readonly<GivenSettings['sessions']>;
export type RouteSettings = Readonly<z.input<typeof ROUTES>>;

/** All that the module goes by, completed and checked. */
export type TokenExchangeOptions = Readonly<
  Pick<
    GivenSettings,
    | 'strict'
    | 'roles'
    | 'embedLogin'
    | 'exchange'
    | 'idAssertion'
    | 'tokenRevocation'
    | 'tokenIntrospection'
    | 'logout'
    | 'clockToleranceSeconds'
    | 'replayPurge'
    | 'jwks'
    | 'userTable'
    | 'eventPrefix'
  >
> & {
  readonly trustedKeys: readonly TrustedKeyEntry[];
  /** The `iss` of the host's own access tokens, which no external token and no entry may name; undefined: it is not known. */
  readonly ownIssuer?: string;
  /** Where clients know the token endpoint, as an `aud` may call it; undefined: it is not known. */
  readonly tokenEndpoint?: string;
  /** Where partners ask about refusals, as the `aud` of a question names it; undefined: it is not known. */
  readonly explainEndpoint?: string;
  /** Whether the endpoints are there at this moment, asked on every request; else they answer 404. */
  readonly isOffered: () => boolean;
};

/** Injection token of the settings with their defaults. */
export const TOKEN_EXCHANGE_SETTINGS = Symbol('TOKEN_EXCHANGE_SETTINGS');

/** Injection token of the settings that make the routes, with their defaults. */
export const ROUTE_SETTINGS = Symbol('ROUTE_SETTINGS');

/** Injection token of the options. */
export const TOKEN_EXCHANGE_OPTIONS = Symbol('TOKEN_EXCHANGE_OPTIONS');
