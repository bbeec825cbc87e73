// The routes that currently exist, depending on flag, licence and switches.
import type { Startup } from '../config/startup.js';
import type { Clock } from '../platform/clock.js';
import type { TokenEndpoint } from '../token-exchange/instance.js';
import {
  EMBED_PATH,
  ENDPOINT_PATHS,
  flowsOf,
  INTROSPECTION_PATH,
  loginMethods,
  namesDocuments,
  publishedGrants,
  REVOCATION_PATH,
  SERVER_METADATA_PATHS,
  TOKEN_PATH,
} from '../token-exchange/instance.js';
import type { PresentEntries } from './frame-ancestors.js';
import { isTokenExchangeOffered } from './token-exchange-settings.js';

interface Route {
  readonly path: string;
  readonly method: string;
}

interface RouteRules {
  readonly startup: Startup;
  readonly clock: Clock;
  readonly entries: PresentEntries;
}

/** Whether a route is currently absent: its path returns 404, or this method of it 405. */
export function isAbsent({ path, method }: Route, { startup, clock, entries }: RouteRules): boolean {
  if (path === EMBED_PATH && !loginMethods(startup.config).includes(method)) return true;
  if (ENDPOINT_PATHS.includes(path)) return !isTokenExchangeOffered(startup, clock);
  return SERVER_METADATA_PATHS.includes(path) && tokenEndpointOf({ startup, clock, entries }) === undefined;
}

/** Undefined if the endpoint is absent or off: an endpoint that returns 404 or 501 is not published. */
export function tokenEndpointOf({ startup, clock, entries }: RouteRules): TokenEndpoint | undefined {
  const { exchangeEnabled, idAssertionEnabled } = startup.config;
  const isSwitchedOn = exchangeEnabled || idAssertionEnabled;
  if (!isSwitchedOn || !isTokenExchangeOffered(startup, clock)) return undefined;
  return {
    path: TOKEN_PATH,
    revocationPath: REVOCATION_PATH,
    introspectionPath: INTROSPECTION_PATH,
    namesDocuments: namesDocuments(entries.list),
    ...publishedGrants({
      switches: { exchange: { enabled: exchangeEnabled }, idAssertion: { enabled: idAssertionEnabled } },
      takesPlainJwts: () => entries.list.some((entry) => flowsOf(entry).has('jwt-bearer')),
    }),
  };
}
