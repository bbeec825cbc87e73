// Looks at what a server really does and writes: a fast answer is worth nothing if it is a wrong one.
import assert from 'node:assert/strict';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { exchangeOnce } from './exchanges.mjs';
import { RESIDENTS } from './residents.mjs';

/** @throws Error when one exchange is not what it should be, or a bad token is taken */
export async function checkExchange(contestant, partner, algorithm) {
  const token = await partner.sign(algorithm, RESIDENTS[0]);
  const answer = await exchangeOnce(contestant, token);
  assert.equal(answer.status, 200, `${contestant.name} refused a good token: ${answer.text}`);
  await checkAccessToken(contestant, JSON.parse(answer.text));
  await mustRefuse(contestant, 'a used token', token);
  await mustRefuse(contestant, 'a forged token', forged(await partner.sign(algorithm, RESIDENTS[0])));
  const expired = { ...RESIDENTS[0], exp: Math.floor(Date.now() / 1000) - 1 };
  await mustRefuse(contestant, 'an expired token', await partner.sign(algorithm, expired));
  const elsewhere = { ...RESIDENTS[0], aud: 'https://elsewhere.example' };
  await mustRefuse(contestant, 'a token for somebody else', await partner.sign(algorithm, elsewhere));
}

/** A good token whose signature is another's. */
export function forged(token) {
  const at = token.lastIndexOf('.') + 1;
  const flipped = token[at] === 'A' ? 'B' : 'A';
  return token.slice(0, at) + flipped + token.slice(at + 1);
}

async function checkAccessToken(
  { name, server, keySetPath },
  { access_token: token, token_type: type, expires_in: seconds },
) {
  assert.equal(type, 'Bearer', `${name} answered no Bearer token`);
  assert.ok(
    seconds >= 5 && seconds <= 60,
    `${name} gives its token ${seconds} seconds, more than the subject's`,
  );
  const keySet = await (await fetch(new URL(keySetPath, server.origin))).json();
  const { payload } = await jwtVerify(token, createLocalJWKSet(keySet), {
    typ: 'at+jwt',
    algorithms: ['ES256'],
  });
  for (const claim of ['iss', 'aud', 'sub', 'client_id', 'jti', 'iat', 'exp'])
    assert.notEqual(payload[claim], undefined, `${name} issued a token without ${claim}`);
  assert.notEqual(payload.sub, RESIDENTS[0].sub, `${name} did not look its own user up`);
}

async function mustRefuse(contestant, what, token) {
  const { status, text } = await exchangeOnce(contestant, token);
  assert.equal(status, 400, `${contestant.name} took ${what}: ${text}`);
}

/** Counts what exchanges have left in a server's database. */
export async function writtenRows({ postgres }, { database }) {
  const [rows] = await postgres.query(
    database,
    `SELECT (SELECT count(*) FROM token_exchange_used_jti)::int AS "usedTokens",
       (SELECT count(*) FROM audit_event WHERE name = 'svc.audit.token-exchange.succeeded')::int AS successes,
       (SELECT count(*) FROM audit_event WHERE name = 'svc.audit.token-exchange.failed')::int AS failures`,
  );
  return rows;
}
