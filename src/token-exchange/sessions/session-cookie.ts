// The session cookie: how it is set, cleared and read.
import { stringifySetCookie } from 'cookie';

/** The `__Host-` prefix binds it to this host, `Secure` and `Path=/` (RFC 6265bis §4.1.3). */
export const SESSION_COOKIE = '__Host-svc-session';

/**
 * The `Set-Cookie` value of a session.
 * @rule D25 `__Host-`, `HttpOnly`, `Secure`, `SameSite=None`, and `Partitioned` unless switched off.
 * See session.service.ts for the random id and its hash.
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

/** 256 bits in base64url: what is of another form was never set by us. */
const CARRIED_ID = new RegExp(`(?:^|;)[ \\t]*${SESSION_COOKIE}=([\\w-]{43})[ \\t]*(?=;|$)`, 'g');
/** A browser has two jars for a frame, partitioned and not, and sends what is in both under the same name. */
const MAX_CARRIED_IDS = 4;

/** The different session ids of a `Cookie` header, in its order; no more than a few. */
export function readSessionCookies(header: string | undefined): string[] {
  const ids = new Set<string>();
  for (const [, id = ''] of (header ?? '').matchAll(CARRIED_ID)) {
    ids.add(id);
    if (ids.size === MAX_CARRIED_IDS) break;
  }
  return [...ids];
}
