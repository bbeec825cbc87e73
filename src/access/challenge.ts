// How a request is told which credential would get it through.
import { RESOURCE_METADATA_PATH } from './well-known.js';

/** What a challenge depends on. */
interface Challenged {
  /** The `Authorization` header of the request. */
  readonly authorization: string | undefined;
  /** Origin of the instance. */
  readonly baseUrl: string;
}

/**
 * The `WWW-Authenticate` header of a 401. It names an error only where a credential was sent (RFC 6750 §3), and always
 * where a client learns who issues tokens (RFC 9728 §5.1).
 */
export function challengeTo({ authorization, baseUrl }: Challenged): string {
  const error = authorization === undefined ? '' : 'error="invalid_token", ';
  return `Bearer ${error}resource_metadata="${baseUrl}${RESOURCE_METADATA_PATH}"`;
}

/** What a challenge to a token with too few scopes depends on. */
interface Limited {
  /** The scope that the call needs. */
  readonly scope: string;
  /** Origin of the instance. */
  readonly baseUrl: string;
}

/** The `WWW-Authenticate` header of a 403 that a token with this scope would not get (RFC 6750 §3.1). */
export function scopeChallengeTo({ scope, baseUrl }: Limited): string {
  const error = `error="insufficient_scope", scope="${scope}"`;
  return `Bearer ${error}, resource_metadata="${baseUrl}${RESOURCE_METADATA_PATH}"`;
}
