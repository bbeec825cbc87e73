// Reads the credential of a call, and says in an answer which one would get it through (RFC 6750).
import { RESOURCE_METADATA_PATH } from './paths.js';

/** RFC 6750 §2.1; the scheme's name is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/** The token of an `Authorization` header; undefined for another scheme, or characters that no token has. */
export function bearerTokenIn(authorization: string): string | undefined {
  return BEARER.exec(authorization)?.[1];
}

/** Whether a credential is meant for the scheme that is served. Of another one nothing is said but which it is. */
export function isBearer(authorization: string | undefined): boolean {
  return authorization !== undefined && /^bearer( |$)/i.test(authorization);
}

/** What a challenge depends on. */
interface Challenged {
  /** The `Authorization` header of the request. */
  readonly authorization: string | undefined;
  /** The origin whose metadata is published; undefined where none is. */
  readonly baseUrl: string | undefined;
}

/**
 * The `WWW-Authenticate` header of a 401. It names an error only where a Bearer credential was sent (RFC 6750 §3.1), and, where
 * metadata is published, always where a client learns who issues tokens (RFC 9728 §5.1).
 */
export function challengeTo({ authorization, baseUrl }: Challenged): string {
  return challenge([...(isBearer(authorization) ? ['error="invalid_token"'] : []), ...metadataAt(baseUrl)]);
}

/** What a challenge to a token with too few scopes depends on. */
interface Limited {
  /** The scopes that the call needs, with spaces between them. */
  readonly scope: string;
  readonly baseUrl: string | undefined;
}

/** The `WWW-Authenticate` header of a 403 that a token with these scopes would not get (RFC 6750 §3.1). */
export function scopeChallengeTo({ scope, baseUrl }: Limited): string {
  return challenge(['error="insufficient_scope"', `scope="${scope}"`, ...metadataAt(baseUrl)]);
}

function metadataAt(baseUrl: string | undefined): string[] {
  return baseUrl === undefined ? [] : [`resource_metadata="${baseUrl}${RESOURCE_METADATA_PATH}"`];
}

function challenge(parameters: readonly string[]): string {
  return ['Bearer', ...(parameters.length === 0 ? [] : [parameters.join(', ')])].join(' ');
}
