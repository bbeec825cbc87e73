// The session cookie of the product: how it is made and read.
import { createHash } from 'node:crypto';

export const SESSION_SECONDS = 3600;
const COOKIE = /(?:^|;)\s*product_session=([\w-]{43})(?=;|$)/;

/** `SameSite=None` and `Partitioned` let it into a frame on a partner's page. */
export function sessionCookie(id: string): string {
  return `product_session=${id}; Max-Age=${SESSION_SECONDS}; Path=/; HttpOnly; Secure; SameSite=None; Partitioned`;
}

/** The hash by which a session is stored; undefined where the request has none. */
export function carriedSession(cookies = ''): string | undefined {
  const id = COOKIE.exec(cookies)?.[1];
  return id === undefined ? undefined : hashOf(id);
}

export function hashOf(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
