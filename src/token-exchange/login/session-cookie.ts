// The session cookie: how it is set, cleared and read. The operator's page has another, in operator.guard.ts.
import { stringifySetCookie } from 'cookie';
import { SESSION_COOKIE } from '../settings/settings.js';
import type { SessionSettings } from '../settings/token-exchange.options.js';

export const SESSION_OPTIONS = Symbol('SESSION_OPTIONS');

/**
 * The `Set-Cookie` value of a session.
 * @rule D25 `__Host-`, `HttpOnly`, `Secure`, `SameSite=None`, and `Partitioned` unless switched off.
 * See session.service.ts for the random id and its hash.
 * @param maxAgeSeconds 0 clears the cookie, if `Partitioned` is the same as when it was set
 */
export function sessionCookie(
  value: string,
  maxAgeSeconds: number,
  { cookieName, partitioned }: Pick<SessionSettings, 'cookieName' | 'partitioned'>,
): string {
  return stringifySetCookie({
    name: cookieName,
    value,
    maxAge: maxAgeSeconds,
    path: '/',
    httpOnly: true,
    secure: true,
    sameSite: 'none',
    partitioned,
  });
}

/** The `Set-Cookie` values that clear the cookie in both jars, because `partitioned` may have changed since. */
export function clearingCookies({ cookieName }: Pick<SessionSettings, 'cookieName'>): string[] {
  return [true, false].map((partitioned) => sessionCookie('', 0, { cookieName, partitioned }));
}

/** A browser has two jars for a frame, partitioned and unpartitioned, and sends the cookies of both. */
const MAX_CARRIED_IDS = 4;

/** Reads the distinct session ids of a `Cookie` header, in its order, up to a few. */
export type SessionCookieReader = (header: string | undefined) => string[];

/** @param name letters, digits, `_` and `-` only */
export function sessionCookieReader(name: string): SessionCookieReader {
  // 256 bits in base64url. The service never set any other form.
  const carried = new RegExp(`(?:^|;)[ \\t]*${name}=([\\w-]{43})[ \\t]*(?=;|$)`, 'g');
  return (header = '') => {
    const ids = new Set<string>();
    for (const [, id = ''] of header.matchAll(carried)) {
      ids.add(id);
      if (ids.size === MAX_CARRIED_IDS) break;
    }
    return [...ids];
  };
}

export const readSessionCookies = sessionCookieReader(SESSION_COOKIE);
