// The floor: a bare Fastify program, in one process, that does only the necessary work of an exchange.
//
// It does everything that correctness needs: it checks the signature, the claims and the user's current state, and commits
// the single use and the audit row before it responds. It has no logging, metrics, rate limits, error causes or key
// rotation.
import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { AccessTokens } from './floor/access-tokens.mjs';
import { Database } from './floor/database.mjs';
import { ExternalTokenVerifier } from './floor/external-token.mjs';

const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ISSUED_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';
const LONGEST_LIFETIME_SECONDS = 900;
const SHORTEST_LIFETIME_SECONDS = 5;

const { port, databaseUrl, trustedKeys } = JSON.parse(process.env.BENCH_SETTINGS);
const verifier = new ExternalTokenVerifier(trustedKeys);
const database = await Database.connect(databaseUrl);
const accessTokens = new AccessTokens(`http://localhost:${port}`);

const server = Fastify({ logger: false });
server.removeAllContentTypeParsers();
server.addContentTypeParser(
  'application/x-www-form-urlencoded',
  { parseAs: 'string' },
  (_request, body, done) => done(null, body),
);
server.get('/.well-known/jwks.json', () => accessTokens.keySet());
server.post('/rest/auth/oauth/token', exchange);
await server.listen({ host: '127.0.0.1', port });

async function exchange(request, reply) {
  reply.header('content-type', 'application/json; charset=utf-8').header('cache-control', 'no-store');
  if (fieldOf(request.body, 'grant_type') !== TOKEN_EXCHANGE_GRANT)
    return refusal(reply, 'unsupported_grant_type');
  const subject = await verifier.verify(fieldOf(request.body, 'subject_token'));
  if (subject === undefined) return refusal(reply, 'invalid_grant');
  const issuedAt = Math.floor(Date.now() / 1000);
  const expiresAt = Math.min(Math.floor(subject.claims.exp), issuedAt + LONGEST_LIFETIME_SECONDS);
  const lifetimeSeconds = expiresAt - issuedAt;
  if (lifetimeSeconds < SHORTEST_LIFETIME_SECONDS) return refusal(reply, 'invalid_grant');
  const tokenId = randomUUID();
  const userId = await database.exchange({ subject, tokenId, lifetimeSeconds, requestId: request.id });
  if (userId === undefined) return refusal(reply, 'invalid_grant');
  const accessToken = accessTokens.sign({
    tokenId,
    userId,
    clientId: subject.claims.iss,
    issuedAt,
    expiresAt,
  });
  // Written as a string, because no value needs escaping.
  return `{"access_token":"${accessToken}","token_type":"Bearer","expires_in":${lifetimeSeconds},"issued_token_type":"${ISSUED_TOKEN_TYPE}"}`;
}

function refusal(reply, error) {
  reply.code(400);
  return `{"error":"${error}"}`;
}

/** Reads one field without parsing the whole form. Returns undefined if the field is missing or malformed. */
function fieldOf(form, name) {
  const start = form.startsWith(`${name}=`) ? 0 : form.indexOf(`&${name}=`) + 1;
  if (start === 0 && !form.startsWith(`${name}=`)) return undefined;
  const end = form.indexOf('&', start);
  const encoded = form.slice(start + name.length + 1, end === -1 ? form.length : end);
  // A compact token has no encoded characters.
  if (!/[%+]/.test(encoded)) return encoded;
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
