// Checks that a server responds correctly and writes its rows, because the speed of wrong responses means nothing.
import assert from 'node:assert/strict';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { exchangeOnce } from './exchanges.mjs';
import { RESIDENTS } from './residents.mjs';

/** @throws Error if an exchange has the wrong result, or if an invalid token is accepted */
export async function checkExchange(contestant, partner, algorithm = 'ES256') {
  const claims = { ...RESIDENTS[0], ...contestant.claims };
  const sign = (changed = {}) => partner.sign(algorithm, { ...claims, ...changed });
  const token = sign();
  const answer = await exchangeOnce(contestant, token);
  assert.equal(answer.status, 200, `${contestant.name} refused a good token: ${answer.text}`);
  await checkAnswer(contestant, JSON.parse(answer.text));
  await mustRefuse(contestant, 'a used token', token);
  await mustRefuse(contestant, 'a forged token', forged(sign()));
  const expired = sign({ exp: Math.floor(Date.now() / 1000) - 1 });
  await mustRefuse(contestant, 'an expired token', expired);
  const elsewhere = sign({ aud: 'https://elsewhere.example' });
  await mustRefuse(contestant, 'a token for somebody else', elsewhere);
}

/** Replaces one character of the token's signature. */
export function forged(token) {
  const at = token.lastIndexOf('.') + 1;
  const flipped = token[at] === 'A' ? 'B' : 'A';
  return token.slice(0, at) + flipped + token.slice(at + 1);
}

/** @param contestant checks opaque access tokens with its own `checkAccessToken` */
async function checkAnswer(contestant, { access_token: token, token_type: type, expires_in: seconds }) {
  const { name, checkAccessToken = checkJwt } = contestant;
  // The type is case-insensitive (RFC 6749, section 5.1).
  assert.equal(type.toLowerCase(), 'bearer', `${name} answered no Bearer token`);
  assert.ok(
    seconds >= 5 && seconds <= 60,
    `${name} gives its token ${seconds} seconds, more than the subject's`,
  );
  await checkAccessToken(contestant, token);
}

/** @param contestant its `accessTokenType` and `clientClaim` replace the names of RFC 9068 */
async function checkJwt(
  { name, server, keySetPath, accessTokenType = 'at+jwt', clientClaim = 'client_id' },
  token,
) {
  const keySet = await (await fetch(new URL(keySetPath, server.origin))).json();
  const { payload } = await jwtVerify(token, createLocalJWKSet(keySet), {
    typ: accessTokenType,
    algorithms: ['ES256'],
  });
  for (const claim of ['iss', 'aud', 'sub', clientClaim, 'jti', 'iat', 'exp'])
    assert.notEqual(payload[claim], undefined, `${name} issued a token without ${claim}`);
  assert.notEqual(payload.sub, RESIDENTS[0].sub, `${name} did not look its own user up`);
}

async function mustRefuse(contestant, what, token) {
  const { status, text } = await exchangeOnce(contestant, token);
  assert.equal(status, 400, `${contestant.name} took ${what}: ${text}`);
}

/** Counts the audit rows of exchanges in a server's database. */
export async function writtenRows({ postgres }, { database }) {
  const [rows] = await postgres.query(
    database,
    `SELECT count(*) FILTER (WHERE name = 'svc.audit.token-exchange.succeeded')::int AS successes,
       count(*) FILTER (WHERE name = 'svc.audit.token-exchange.failed')::int AS failures FROM audit_event`,
  );
  return rows;
}
