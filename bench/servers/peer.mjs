// The peer: oidc-provider with a token-exchange grant of its own, in one process, all in memory.
//
// It issues JWT access tokens signed by ES256, as the service does (its resource-indicator feature makes them). Replay
// records and users are in memory too, so it has no database work at all and forgets everything when it ends.
import { generateKeyPairSync } from 'node:crypto';
import { errors as joseErrors, importSPKI, jwtVerify } from 'jose';
import { errors, Provider } from 'oidc-provider';

const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const RESOURCE = 'https://api.peer.example';
const LONGEST_LIFETIME_SECONDS = 900;
const TOKENS_BETWEEN_SWEEPS = 1_000;

const { port, trustedKeys, subjects } = JSON.parse(process.env.BENCH_SETTINGS);
const keys = new Map(await Promise.all(trustedKeys.map(readKey)));
const users = new Map(subjects.map((subject, index) => [subject, `user-${index}`]));
/** Until they expire: by token id, when they do. */
const usedTokens = new Map();
let sinceSweep = 0;

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

async function exchange(context) {
  const { client, params } = context.oidc;
  const claims = await verified(params.subject_token);
  const accountId = users.get(claims.sub);
  if (accountId === undefined) throw new errors.InvalidGrant('unknown subject');
  if (!useUp(claims)) throw new errors.InvalidGrant('replayed');
  const remainingSeconds = Math.floor(claims.exp - Date.now() / 1000);
  const token = new provider.AccessToken({
    accountId,
    client,
    resourceServer: resource,
    gty: TOKEN_EXCHANGE_GRANT,
    expiresIn: Math.min(remainingSeconds, LONGEST_LIFETIME_SECONDS),
  });
  context.oidc.entity('AccessToken', token);
  const accessToken = await token.save();
  context.body = {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: token.expiration,
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  };
}

/** False when the token was used before. */
function useUp({ jti, exp }) {
  if (usedTokens.has(jti)) return false;
  usedTokens.set(jti, exp);
  sinceSweep += 1;
  if (sinceSweep >= TOKENS_BETWEEN_SWEEPS) sweep();
  return true;
}

/** A map keeps the order of its insertions, which is nearly that of expiry: the oldest go until one still lives. */
function sweep() {
  sinceSweep = 0;
  const now = Date.now() / 1000;
  for (const [jti, exp] of usedTokens) {
    if (exp > now) return;
    usedTokens.delete(jti);
  }
}

async function verified(token) {
  try {
    const { payload } = await jwtVerify(token, keyFor, {
      issuer: trustedKeys[0].issuer,
      audience: trustedKeys[0].expectedAudience,
      requiredClaims: ['sub', 'jti', 'iat', 'exp'],
    });
    return payload;
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
