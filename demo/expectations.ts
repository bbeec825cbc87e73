// The expected responses of the main job. Each expectation is a sentence that is true or false.
import { isDeepStrictEqual } from 'node:util';
import type { HttpAnswer } from './http-exchange.js';
import type { Members } from './partner.js';
import { decodeToken } from './token-view.js';
import type { Expectation } from './transcript.js';

export const SESSION_COOKIE = '__Host-svc-session';
const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';
const GENERIC_REFUSAL = { error: 'invalid_grant', error_description: 'Token exchange failed' };
const COOKIE_ATTRIBUTES = ['HttpOnly', 'Secure', 'SameSite=None', 'Path=/', 'Max-Age='];

export function met(text: string, holds: boolean): Expectation {
  return { text, holds };
}

export function status(answer: HttpAnswer, expected: number): Expectation {
  return met(`status ${expected}`, answer.status === expected);
}

/** A successful answer of the token endpoint (contract, section 2.4). */
export function issued(answer: HttpAnswer): Expectation[] {
  const { token_type: type, issued_token_type: issuedType, expires_in: seconds } = answer.json;
  const inRange = Number.isInteger(seconds) && Number(seconds) >= 5 && Number(seconds) <= 55;
  return [
    status(answer, 200),
    met('token_type is Bearer', type === 'Bearer'),
    met('issued_token_type says access token', issuedType === ACCESS_TOKEN_TYPE),
    met('it lives no longer than the JWTs it came from', inRange),
    met('the answer is not to be stored', answer.headers.get('cache-control') === 'no-store'),
  ];
}

/** Every refused exchange has the same body, for all causes. */
export function genericRefusal(answer: HttpAnswer): Expectation {
  return met('the body that every invalid grant gets', isDeepStrictEqual(answer.json, GENERIC_REFUSAL));
}

/** The redirect and the cookie of a successful embedded login. */
export function sessionOpened(answer: HttpAnswer): Expectation[] {
  const line = answer.headers.getSetCookie().find((set) => set.startsWith(`${SESSION_COOKIE}=`)) ?? '';
  const complete = COOKIE_ATTRIBUTES.every((attribute) => line.includes(`; ${attribute}`));
  return [
    met('the redirect goes to /', answer.headers.get('location') === '/'),
    met('the session cookie is HttpOnly, Secure, SameSite=None, and ends some day', complete),
  ];
}

export function isPage(answer: HttpAnswer): Expectation {
  return met('it is a page', answer.headers.get('content-type')?.startsWith('text/html') ?? false);
}

/** The response lists exactly the workflows with these names, in any order. */
export function hasNames(answer: HttpAnswer, names: string[], text: string): Expectation {
  const { data } = answer.json;
  const listed = Array.isArray(data) ? data.map((workflow: Members) => String(workflow.name)) : [];
  return met(text, isDeepStrictEqual(listed.sort(), [...names].sort()));
}

/** The claims of the access token in the response; empty if there is none. Nothing is verified. */
export function accessClaims(answer: HttpAnswer): Members {
  return decodeToken(answer.json.access_token)?.claims ?? {};
}

/** `act.sub` of the access token in the answer. */
export function actorOf(answer: HttpAnswer): unknown {
  const { act } = accessClaims(answer);
  return typeof act === 'object' && act !== null && 'sub' in act ? act.sub : undefined;
}
