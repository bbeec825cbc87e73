// Looks at what a server really does and writes: a fast answer is worth nothing if it is a wrong one.
import assert from 'node:assert/strict';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { exchangeOnce } from './exchanges.mjs';
import { RESIDENTS } from './residents.mjs';

/** @throws Error when one exchange is not what it should be, or a bad token is taken */
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

/** A good token whose signature is another's. */
export function forged(token) {
  const at = token.lastIndexOf('.') + 1;
  const flipped = token[at] === 'A' ? 'B' : 'A';
  return token.slice(0, at) + flipped + token.slice(at + 1);
}

/** @param contestant checks its own access token by `checkAccessToken` where that is opaque */
async function checkAnswer(contestant, { access_token: token, token_type: type, expires_in: seconds }) {
  const { name, checkAccessToken = checkJwt } = contestant;
  // RFC 6749, section 5.1: in any case.
  assert.equal(type.toLowerCase(), 'bearer', `${name} answered no Bearer token`);
  assert.ok(
    seconds >= 5 && seconds <= 60,
    `${name} gives its token ${seconds} seconds, more than the subject's`,
  );
  await checkAccessToken(contestant, token);
}

/** @param contestant says by `accessTokenType` and `clientClaim` what it calls these, where not as RFC 9068 does */
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
