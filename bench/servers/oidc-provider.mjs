// A peer: oidc-provider with a custom token-exchange grant, in one process.
//
// Like the service, it issues JWT access tokens signed with ES256, by its resource-indicator feature. By default, replay
// records and users are in memory and are lost when it ends. With a database, an exchange runs the floor's statement,
// which is the cheapest known.
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

/** Request ids are sequential, as in the floor. Random ids would make their index more expensive. */
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
  // Saving would set the id, but the audit row needs it earlier.
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

/** Imports the key once, as a CryptoKey, which is fastest with jose. */
async function readKey({ kid, algorithms: [algorithm], key }) {
  return [`${kid} ${algorithm}`, await importSPKI(key, algorithm)];
}

/** Keeps users and used tokens in memory, in place of a database. */
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
