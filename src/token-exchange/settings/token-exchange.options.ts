// Types and injection tokens of the settings. Their defaults and ranges are in settings.ts, and in the README of the package.
import type { z } from 'zod';
import type { TrustedKeyEntry } from '../trust/trusted-key.js';
import type { ROUTES, SETTINGS } from './settings.js';

/** The settings of a host: trusted keys and roles, and deviations from the defaults. */
export type TokenExchangeSettings = z.input<typeof SETTINGS>;
/** The settings with their defaults. */
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

/** The complete and checked options of the module. */
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
    | 'signals'
    | 'clockToleranceSeconds'
    | 'replayPurge'
    | 'jwks'
    | 'userTable'
    | 'eventPrefix'
  >
> & {
  readonly trustedKeys: readonly TrustedKeyEntry[];
  /** The `iss` of the host's own access tokens, which no external token and no entry may name; undefined: unknown. */
  readonly ownIssuer?: string;
  /** The token endpoint's public address, as an `aud` may name it; undefined: unknown. */
  readonly tokenEndpoint?: string;
  /** The public address for questions about refusals, as their `aud` names it; undefined: unknown. */
  readonly explainEndpoint?: string;
  /** Whether the endpoints are available now; otherwise they answer 404. Called on every request. */
  readonly isOffered: () => boolean;
};

/** Injection token of the settings with their defaults. */
export const TOKEN_EXCHANGE_SETTINGS = Symbol('TOKEN_EXCHANGE_SETTINGS');

/** Injection token of the routes' settings with their defaults. */
export const ROUTE_SETTINGS = Symbol('ROUTE_SETTINGS');

/** Injection token of the options. */
export const TOKEN_EXCHANGE_OPTIONS = Symbol('TOKEN_EXCHANGE_OPTIONS');
