// Makes and reads the product's session cookie.
import { createHash } from 'node:crypto';

export const SESSION_SECONDS = 3600;
const COOKIE = /(?:^|;)\s*product_session=([\w-]{43})(?=;|$)/;

/** `SameSite=None` and `Partitioned` allow it in a frame on a partner's page. */
export function sessionCookie(id: string): string {
  return `product_session=${id}; Max-Age=${SESSION_SECONDS}; Path=/; HttpOnly; Secure; SameSite=None; Partitioned`;
}

/** The hash under which the session is stored; undefined if the request has no session. */
export function carriedSession(cookies = ''): string | undefined {
  const id = COOKIE.exec(cookies)?.[1];
  return id === undefined ? undefined : hashOf(id);
}

export function hashOf(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
