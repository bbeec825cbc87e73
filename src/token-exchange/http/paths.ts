// Where the two flows answer (4.1, 4.2); behind a prefix, if the host has one.
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';

/** The token endpoint. */
export const TOKEN_PATH = '/rest/auth/oauth/token';

/** Token revocation. */
export const REVOCATION_PATH = '/rest/auth/oauth/revoke';

/** Back-channel logout. */
export const LOGOUT_PATH = '/rest/auth/backchannel-logout';

/** Embedded login. */
export const EMBED_PATH = '/rest/auth/embed';

/**
 * The methods of embedded login. A HEAD, which servers hand to the route of a GET, must not sign anybody in, nor use a token
 * up (D57). Under the strict policy a GET does not either (P.strict).
 */
export function loginMethods({ strict }: Pick<TokenExchangeOptions, 'strict'>): readonly string[] {
  return strict ? ['POST'] : ['GET', 'POST'];
}
