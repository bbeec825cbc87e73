// The session cookie: how it is set, cleared and read.
import { parseCookie, stringifySetCookie } from 'cookie';

/** The `__Host-` prefix binds it to this host, `Secure` and `Path=/` (RFC 6265bis §4.1.3). */
export const SESSION_COOKIE = '__Host-svc-session';

/**
 * The `Set-Cookie` value of a session.
 * @rule D25 `__Host-`, `HttpOnly`, `Secure`, `SameSite=None`, and `Partitioned` unless switched off.
 * @param maxAgeSeconds 0 clears the cookie; the other attributes must then be those that it was set with
 */
export function sessionCookie(value: string, maxAgeSeconds: number, isPartitioned: boolean): string {
  return stringifySetCookie({
    name: SESSION_COOKIE,
    value,
    maxAge: maxAgeSeconds,
    path: '/',
    httpOnly: true,
    secure: true,
    sameSite: 'none',
    partitioned: isPartitioned,
  });
}

/** The session id of a `Cookie` header. */
export function readSessionCookie(header: string | undefined): string | undefined {
  return header === undefined ? undefined : parseCookie(header)[SESSION_COOKIE];
}
