// The requests of both flows: token exchange and embedded login.
import assert from 'node:assert/strict';
import { proofFor } from './dpop.mjs';
import { logins } from './residents.mjs';

const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';
/** The longest default lifetime of access tokens. */
const LIFETIME_SECONDS = 900;
export const FORM = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };

/**
 * A load of exchanges of new tokens.
 * @param options `claimSets` makes the claims of a number of tokens (default: known users). `lifetimeSeconds` is the tokens'
 *   lifetime (default: the contestant's). `change` modifies each signed token. `hasActor` adds another user's token, and
 *   `hasProof` adds a proof of possession
 */
export function exchangeRequests(contestant, partner, options = {}) {
  const {
    algorithm = 'ES256',
    claimSets = logins,
    change = (token) => token,
    expectedStatus = 200,
  } = options;
  const { lifetimeSeconds = contestant.lifetimeSeconds, hasActor = false, hasProof = false } = options;
  return {
    ...FORM,
    path: contestant.exchangePath,
    expectedStatus,
    requests: async (count) => {
      const allClaims = claimSets(count).map((claims) => ({ ...claims, ...contestant.claims }));
      const tokens = partner.signAll(algorithm, allClaims, lifetimeSeconds);
      const actors = hasActor ? partner.signAll(algorithm, logins(count + 1).slice(1)) : [];
      const actorOf = (index) => hasActor && { actor_token: actors[index], actor_token_type: JWT_TYPE };
      const headers = () => ({
        ...FORM.headers,
        dpop: proofFor(contestant, 'POST', contestant.exchangePath),
      });
      return tokens.map((token, index) => ({
        body: exchangeForm(contestant, change(token), actorOf(index)),
        ...(hasProof && { headers: headers() }),
      }));
    },
  };
}

/** Returns a load of embedded logins. @param claimSets claims of so many users; known users by default */
export function embedLoginsOf(claimSets = logins) {
  return (_contestant, partner) => ({
    ...FORM,
    path: '/rest/auth/embed',
    expectedStatus: 303,
    requests: async (count) => {
      const tokens = partner.signAll('ES256', claimSets(count));
      return tokens.map((token) => ({ body: new URLSearchParams({ token, redirectTo: '/' }).toString() }));
    },
  });
}

/** @param contestant uses the grant of RFC 7523 instead of token exchange if `takesAssertions` is set */
export function exchangeForm({ fields, takesAssertions = false }, subjectToken, moreFields) {
  const grant = takesAssertions
    ? { grant_type: JWT_BEARER_GRANT, assertion: subjectToken }
    : { grant_type: TOKEN_EXCHANGE_GRANT, subject_token: subjectToken, subject_token_type: JWT_TYPE };
  return new URLSearchParams({ ...grant, ...fields, ...moreFields }).toString();
}

/** Sends one exchange and returns the response's status and body. */
export async function exchangeOnce(contestant, subjectToken, moreHeaders) {
  const url = new URL(contestant.exchangePath, contestant.server.origin);
  const headers = { ...FORM.headers, ...moreHeaders };
  const answer = await fetch(url, { ...FORM, headers, body: exchangeForm(contestant, subjectToken) });
  return { status: answer.status, text: await answer.text() };
}

/** Exchanges a token for each claim set, one after another. @param headersOf makes additional headers for each request */
export async function accessTokens(contestant, partner, claimSets, headersOf) {
  const tokens = [];
  for (const subjectToken of partner.signAll('ES256', claimSets, LIFETIME_SECONDS)) {
    const { status, text } = await exchangeOnce(contestant, subjectToken, headersOf?.());
    assert.equal(status, 200, text);
    tokens.push(JSON.parse(text).access_token);
  }
  return tokens;
}

/** Opens `count` sessions that are bound to the key of `proofFor`, and `count` sessions with a cookie. */
export async function sessionsOf(contestant, partner, count) {
  const { origin } = contestant.server;
  const sameOrigin = `http://localhost:${new URL(origin).port}`;
  const path = '/rest/auth/embed';
  const bound = [];
  const cookies = [];
  const login = async (token, fields, headers) => {
    const body = new URLSearchParams({ token, ...fields });
    const answer = await fetch(new URL(path, origin), { ...FORM, headers, body, redirect: 'manual' });
    assert.ok([200, 303].includes(answer.status), `${answer.status} ${await answer.clone().text()}`);
    return answer;
  };
  for (const token of partner.signAll('ES256', logins(count))) {
    const headers = { ...FORM.headers, origin: sameOrigin, dpop: proofFor(contestant, 'POST', path) };
    const answer = await login(token, { answer: 'session', hostOrigin: 'https://partner.example' }, headers);
    bound.push((await answer.json()).session_token);
  }
  for (const token of partner.signAll('ES256', logins(count))) {
    const answer = await login(token, {}, FORM.headers);
    cookies.push(answer.headers.getSetCookie()[0].split(';', 1)[0]);
  }
  return { bound, cookies };
}

export function bearer(token) {
  return { authorization: `Bearer ${token}` };
}
