// Calls the measured servers' APIs with JSON or a form, and reads JSON.
import { accessTokens, bearer } from './exchanges.mjs';

export const ADMINISTRATOR = {
  sub: 'administrator',
  email: 'administrator@partner.example',
  role: 'global:admin',
};

/**
 * Sends a GET request without a body, or a POST request with a form or JSON.
 * @returns the parsed response; undefined if it is empty
 * @throws Error with the response if it is not a success
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

/** Signs an administrator in by token exchange. Returns the headers, and a function that calls the API as this user. */
export async function loginAdministrator(contestant, partner) {
  const [token] = await accessTokens(contestant, partner, [ADMINISTRATOR]);
  const headers = bearer(token);
  return {
    headers,
    jsonHeaders: { ...headers, 'content-type': 'application/json' },
    call: (path, body) => callJson(new URL(`/api/v1${path}`, contestant.server.origin), body, headers),
  };
}
