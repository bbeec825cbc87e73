// A peer: oidc-provider with a token-exchange grant of its own, in one process.
//
// It issues JWT access tokens signed by ES256, as the service does (its resource-indicator feature makes them). Replay
// records and users are in memory unless it is given a database: without one it has no database work at all and forgets
// everything when it ends. With one, an exchange is the floor's statement, which is the cheapest that is known.
import { generateKeyPairSync } from 'node:crypto';
import { errors as joseErrors, importSPKI, jwtVerify } from 'jose';
import { errors, Provider } from 'oidc-provider';
import { Database } from './floor/database.mjs';

const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const RESOURCE = 'https://api.peer.example';
const LONGEST_LIFETIME_SECONDS = 900;

const { port, trustedKeys, subjects, databaseUrl } = JSON.parse(process.env.BENCH_SETTINGS);
const keys = new Map(await Promise.all(trustedKeys.map(readKey)));
const users = databaseUrl === undefined ? usersInMemory() : await Database.connect(databaseUrl);

const provider = new Provider(`http://localhost:${port}`, {
  // The cheapest legal client authentication: none.
  clients: [
    {
      client_id: 'bench',
      token_endpoint_auth_method: 'none',
      grant_types: [TOKEN_EXCHANGE_GRANT],
      response_types: [],
      redirect_uris: [],
      id_token_signed_response_alg: 'ES256',
    },
  ],
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
  jwks: { keys: [signingKey()] },
  features: {
    devInteractions: { enabled: false },
    resourceIndicators: { enabled: true, getResourceServerInfo: () => resourceServer() },
  },
});
const resource = new provider.ResourceServer(RESOURCE, resourceServer());
provider.registerGrantType(TOKEN_EXCHANGE_GRANT, exchange, ['subject_token', 'subject_token_type'], []);
provider.listen(port, '127.0.0.1');

/** As the floor counts: ids at random would make the index of them dearer. */
let requests = 0;

async function exchange(context) {
  const { client, params } = context.oidc;
  const subject = await verified(params.subject_token);
  const remainingSeconds = Math.floor(subject.claims.exp - Date.now() / 1000);
  const lifetimeSeconds = Math.min(remainingSeconds, LONGEST_LIFETIME_SECONDS);
  const token = new provider.AccessToken({
    client,
    resourceServer: resource,
    gty: TOKEN_EXCHANGE_GRANT,
    expiresIn: lifetimeSeconds,
  });
  // Saving would do it, but the audit row comes before and tells it.
  token.jti = token.generateTokenId();
  const work = {
    subject,
    tokenId: token.jti,
    lifetimeSeconds,
    requestId: `req-${(requests += 1).toString(36)}`,
  };
  token.accountId = await users.exchange(work);
  if (token.accountId === undefined) throw new errors.InvalidGrant('unknown subject, or replayed');
  context.oidc.entity('AccessToken', token);
  const accessToken = await token.save();
  context.body = {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: token.expiration,
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  };
}

async function verified(token) {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keyFor, {
      issuer: trustedKeys[0].issuer,
      audience: trustedKeys[0].expectedAudience,
      requiredClaims: ['sub', 'jti', 'iat', 'exp'],
    });
    return { claims: payload, kid: protectedHeader.kid };
  } catch (error) {
    if (error instanceof joseErrors.JOSEError) throw new errors.InvalidGrant('token refused');
    throw error;
  }
}

function keyFor({ kid, alg }) {
  const key = keys.get(`${kid} ${alg}`);
  if (key === undefined) throw new joseErrors.JWKSNoMatchingKey();
  return key;
}

/** Imported once, as a CryptoKey: what jose verifies with fastest. */
async function readKey({ kid, algorithms: [algorithm], key }) {
  return [`${kid} ${algorithm}`, await importSPKI(key, algorithm)];
}

/** Users and used tokens in memory: what a database does otherwise. */
function usersInMemory() {
  const known = new Map(subjects.map((subject, index) => [subject, `user-${index}`]));
  const usedTokens = new Set();
  return {
    exchange: ({ subject: { claims } }) => {
      if (usedTokens.has(claims.jti)) return undefined;
      usedTokens.add(claims.jti);
      return known.get(claims.sub);
    },
  };
}

function resourceServer() {
  return {
    scope: '',
    audience: RESOURCE,
    accessTokenFormat: 'jwt',
    accessTokenTTL: LONGEST_LIFETIME_SECONDS,
    jwt: { sign: { alg: 'ES256' } },
  };
}

function signingKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), kid: 'peer-1', use: 'sig', alg: 'ES256' };
}
