// The floor: a bare Fastify program, in one process, that does only the necessary work of an exchange.
//
// It keeps what makes the exchange right (signature, claims, single use and audit row committed before the answer, the
// user's present state) and leaves out what makes a service of it: logging, metrics, throttling, error answers with a
// cause, rotation of keys.
import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { AccessTokenSigner } from './floor/access-token.mjs';
import { BatchedExchanges } from './floor/batched-exchanges.mjs';
import { ExternalTokenVerifier } from './floor/external-token.mjs';
import { fieldOf } from './floor/form.mjs';

const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ISSUED_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';
const LONGEST_LIFETIME_SECONDS = 900;
const SHORTEST_LIFETIME_SECONDS = 5;

const { port, databaseUrl, trustedKeys } = JSON.parse(process.env.BENCH_SETTINGS);
const verifier = new ExternalTokenVerifier(trustedKeys);
const exchanges = await BatchedExchanges.connect(databaseUrl);
const signer = new AccessTokenSigner(`http://localhost:${port}`);

const server = Fastify({ logger: false });
server.removeAllContentTypeParsers();
server.addContentTypeParser(
  'application/x-www-form-urlencoded',
  { parseAs: 'string' },
  (_request, body, done) => done(null, body),
);
server.get('/.well-known/jwks.json', () => signer.keySet());
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
  const userId = await exchanges.carryOut({ subject, tokenId, lifetimeSeconds, requestId: request.id });
  if (userId === undefined) return refusal(reply, 'invalid_grant');
  const accessToken = signer.sign({ tokenId, userId, clientId: subject.claims.iss, issuedAt, expiresAt });
  // By hand: of these members none needs escaping.
  return `{"access_token":"${accessToken}","token_type":"Bearer","expires_in":${lifetimeSeconds},"issued_token_type":"${ISSUED_TOKEN_TYPE}"}`;
}

function refusal(reply, error) {
  reply.code(400);
  return `{"error":"${error}"}`;
}
