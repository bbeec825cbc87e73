// The paths of the endpoints (4.1, 4.2), below the host's prefix if it has one.
import { PATH_PREFIX } from '../settings/settings.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { ENDPOINTS } from './flows.js';

export const ENDPOINT_PATHS: readonly string[] = Object.values(ENDPOINTS).map(
  ({ path }) => PATH_PREFIX + path,
);
export const TOKEN_PATH = PATH_PREFIX + ENDPOINTS.exchange.path;
export const REVOCATION_PATH = PATH_PREFIX + ENDPOINTS.revocation.path;
export const INTROSPECTION_PATH = PATH_PREFIX + ENDPOINTS.introspection.path;
export const LOGOUT_PATH = PATH_PREFIX + ENDPOINTS.logout.path;
export const EVENTS_PATH = PATH_PREFIX + ENDPOINTS.signals.path;
export const EXPLAIN_PATH = PATH_PREFIX + ENDPOINTS.explain.path;
export const EMBED_PATH = PATH_PREFIX + ENDPOINTS.embed.path;

/**
 * The methods of embedded login. Servers route a HEAD to the handler of GET, but it must neither sign a user in nor use up a
 * token (D57). Under the strict policy GET is refused too (P.strict).
 */
export function loginMethods({ strict }: Pick<TokenExchangeOptions, 'strict'>): readonly string[] {
  return strict ? ['POST'] : ['GET', 'POST'];
}

/** The well-known paths of the metadata about access tokens (RFC 8615). */
export const WELL_KNOWN = '.well-known';
export const KEY_SET = 'jwks.json';
/** RFC 9728 §3. */
export const RESOURCE_METADATA = 'oauth-protected-resource';
/** RFC 8414 §3, and OpenID Connect's address, which many clients use only. */
export const SERVER_METADATA = ['oauth-authorization-server', 'openid-configuration'];
export const SERVER_METADATA_PATHS = SERVER_METADATA.map((name) => `/${WELL_KNOWN}/${name}`);
export const KEY_SET_PATH = `/${WELL_KNOWN}/${KEY_SET}`;
export const RESOURCE_METADATA_PATH = `/${WELL_KNOWN}/${RESOURCE_METADATA}`;
