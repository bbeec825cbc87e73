// What a test tells the host that it starts.
import type { RequestMethod } from '@nestjs/common';

/** A route that does without the global prefix, for one method. */
interface UnprefixedRoute {
  readonly path: string;
  readonly method: RequestMethod;
}

/** A transmitter of security events, with the issuer of the entries whose logins it ends. */
interface Transmitter {
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUri: string;
  readonly secret: string;
  readonly loginIssuer: string;
}

/** Those settings of token exchange that differ from host to host. */
export interface HostSettings {
  readonly trustedKeys: string;
  readonly jwks?: { readonly allowHttp: boolean; readonly allowPrivate?: readonly string[] };
  readonly signals?: { readonly transmitters: readonly Transmitter[] };
  readonly exchange?: { readonly perMinute: number };
  readonly embedLogin?: { readonly perMinute: number };
  readonly strict?: boolean;
  readonly pathPrefix?: string;
  readonly eventPrefix?: string;
}

/** As JSON in the variable HOST_OPTIONS. */
export interface HostOptions {
  readonly server: 'express' | 'fastify';
  readonly databaseUrl: string;
  /** `own`: users and sessions of examples/own-product; `defaults`: users of examples/with-defaults, else the package's parts. */
  readonly parts: 'own' | 'defaults';
  /** Base64. Without a key, the settings of access tokens are left out. */
  readonly sealingKey?: string;
  readonly baseUrl: string;
  readonly settings: HostSettings;
  /** TypeORM's name of the kind of database. */
  readonly driver?: 'postgres' | 'cockroachdb' | 'sqljs';
  /** Names the data source. */
  readonly dataSource?: string;
  readonly withoutMigrations?: boolean;
  /** What the host has forgotten. */
  readonly missing?: 'users' | 'scope of users' | 'exports of parts' | 'data source' | 'event emitter';
  /** What a test of the host overrides: its users, who are disabled then. */
  readonly overridden?: 'users';
  readonly isRegisteredTwice?: boolean;
  /** Nest's versions in the paths of all routes that do not leave them out. */
  readonly isVersioned?: boolean;
  readonly isAsync?: boolean;
  /** What reads forms: Nest's own choice, or on Express what the guide names; or nothing. */
  readonly forms?: 'querystring' | 'unread';
  /** Whether security events are parsed as the guide says. */
  readonly takesEvents?: boolean;
  /** Pipes, interceptors, filters, guards, a prefix, helmet and CORS, as a host may have them. */
  readonly isFurnished?: boolean;
  /**
   * A guard for all routes. `without-exemption`: the host's guard, which requires a login. `with-exemption`: the same, except for routes
   * that are marked as public. `of-the-package`: `TokenExchangeGuard`, extended in the same way.
   */
  readonly guard?: 'without-exemption' | 'with-exemption' | 'of-the-package';
  /** How the application is made: by NestFactory, or by Nest's testing module. */
  readonly isMadeForTests?: boolean;
  /** Express is handed to a server of somebody else's, as serverless platforms do it. */
  readonly isFunction?: boolean;
  /** A global prefix, and the paths that do without it. */
  readonly globalPrefix?: { readonly name: string; readonly exclude?: (string | UnprefixedRoute)[] };
  /** The path of a guarded route; `unmarked`: with a route that has no guard of its own, and one that is public. */
  readonly guarded?: { readonly path: string; readonly unmarked?: boolean };
  /** What is done to stored entries once the host has started. */
  readonly storedEntries?: { readonly add?: object; readonly suspend?: string };
  /** A token to exchange by Fastify's `inject` once the host has started. */
  readonly injected?: string;
}

export function givenOptions(): HostOptions {
  return JSON.parse(process.env['HOST_OPTIONS'] ?? '{}') as HostOptions;
}
