// Calls to the APIs of the measured servers: JSON or a form goes in, JSON comes out.
import { accessTokens, bearer } from './exchanges.mjs';

export const ADMINISTRATOR = {
  sub: 'administrator',
  email: 'administrator@partner.example',
  role: 'global:admin',
};

/**
 * Gets, or posts a form, or anything else as JSON.
 * @returns what was answered, undefined for nothing
 * @throws Error that shows any answer but a success
 */
export async function callJson(url, body, headers = {}) {
  const method = body === undefined ? 'GET' : 'POST';
  const isJson = body !== undefined && !(body instanceof URLSearchParams);
  const answer = await fetch(url, {
    method,
    headers: isJson ? { 'content-type': 'application/json', ...headers } : headers,
    body: isJson ? JSON.stringify(body) : body,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url} was answered with ${answer.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** The headers of an administrator of a service, who came in by a token exchange, and what calls its API as that user. */
export async function loginAdministrator(contestant, partner) {
  const [token] = await accessTokens(contestant, partner, [ADMINISTRATOR]);
  const headers = bearer(token);
  return {
    headers,
    jsonHeaders: { ...headers, 'content-type': 'application/json' },
    call: (path, body) => callJson(new URL(`/api/v1${path}`, contestant.server.origin), body, headers),
  };
}
