// How a request that nobody is known for is asked to say who it is.

/**
 * The `WWW-Authenticate` header of a 401. It names an error only where a credential was sent (RFC 6750 §3).
 * @param authorization the `Authorization` header of the request
 */
export function challengeTo(authorization: string | undefined): string {
  return authorization === undefined ? 'Bearer' : 'Bearer error="invalid_token"';
}
