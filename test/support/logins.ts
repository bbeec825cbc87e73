// Embedded logins by either method, and what their answers carry.
import { createHash } from 'node:crypto';
import { EMBED_PATH } from './entry-paths.js';
import type { Fields, TestService } from './test-service.js';

export const LOGIN_METHODS = ['POST', 'GET'] as const;
export type LoginMethod = (typeof LOGIN_METHODS)[number];

/** The fields in the body of a POST, or in the query of a GET. */
export function login(
  service: TestService,
  method: LoginMethod,
  fields: Fields,
  headers: Record<string, string> = {},
): Promise<Response> {
  if (method === 'POST') return service.embed(fields, headers);
  const present = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  return service.fetch(`${EMBED_PATH}?${new URLSearchParams(present).toString()}`, { headers });
}

/** The `Cookie` header of the session that an answer sets. */
export function cookieOf(answer: Pick<Response, 'headers'>): string {
  return (answer.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
}

/** The session id in a `Set-Cookie` header or a `Cookie` header. */
export function sessionIdOf(cookie: string): string {
  return /__Host-svc-session=([^;]*)/.exec(cookie)?.[1] ?? '';
}

/** The key of a cookie's session in its table. */
export function sessionHashOf(cookie: string): Buffer {
  return createHash('sha256').update(sessionIdOf(cookie)).digest();
}

/** The status of `GET /rest/me` with a cookie. */
export async function meStatus(service: TestService, cookie: string): Promise<number> {
  return (await service.fetch('/rest/me', { headers: { cookie } })).status;
}

/** The status of `GET /rest/me` with an access token. */
export async function bearerStatus(service: TestService, accessToken: string): Promise<number> {
  return (await service.fetch('/rest/me', { headers: { authorization: `Bearer ${accessToken}` } })).status;
}
