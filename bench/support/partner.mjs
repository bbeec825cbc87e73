// A pretend partner: its keys, the entries with which servers trust them, and its tokens.
import { constants, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { promisify } from 'node:util';

export const ISSUER = 'https://login.partner.example';
const AUDIENCE = 'https://instance.example';
/** The longest life that embedded login takes. */
const LONGEST_EMBED_LIFETIME_SECONDS = 60;
/** So many signatures are made at the same moment, on all threads of the pool. */
const AT_ONCE = 64;

const ALGORITHMS = {
  ES256: {
    pair: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    digest: 'sha256',
    options: { dsaEncoding: 'ieee-p1363' },
  },
  RS256: {
    pair: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    digest: 'sha256',
    options: { padding: constants.RSA_PKCS1_PADDING },
  },
  EdDSA: { pair: () => generateKeyPairSync('ed25519'), digest: null, options: {} },
};

const signAside = promisify(sign);

export class Partner {
  issuer = ISSUER;

  constructor() {
    this.keys = new Map(Object.keys(ALGORITHMS).map((algorithm) => [algorithm, keyOf(algorithm)]));
  }

  /** What another server needs to trust its key. */
  publicKey(algorithm) {
    const { kid, publicKey } = this.keys.get(algorithm);
    return { kid, pem: publicKey.export({ type: 'spki', format: 'pem' }) };
  }

  /** The same as a JSON Web Key. */
  publicJwk(algorithm) {
    const { kid, publicKey } = this.keys.get(algorithm);
    return { ...publicKey.export({ format: 'jwk' }), kid };
  }

  /** Entries of SVC_TOKEN_EXCHANGE_TRUSTED_KEYS, all with the same members of a policy. */
  trustedKeys(policy = {}) {
    return [...this.keys].map(([algorithm, { kid, publicKey }]) => ({
      type: 'static',
      kid,
      algorithms: [algorithm],
      key: publicKey.export({ type: 'spki', format: 'pem' }),
      issuer: ISSUER,
      expectedAudience: AUDIENCE,
      ...policy,
    }));
  }

  /** Fresh tokens, one for each of the claim sets; what a claim set says goes over the standing claims. */
  async signAll(algorithm, claimSets, lifetimeSeconds) {
    const tokens = [];
    for (let start = 0; start < claimSets.length; start += AT_ONCE) {
      const some = claimSets.slice(start, start + AT_ONCE);
      tokens.push(
        ...(await Promise.all(some.map((claims) => this.sign(algorithm, claims, lifetimeSeconds)))),
      );
    }
    return tokens;
  }

  async sign(algorithm, claims, lifetimeSeconds = LONGEST_EMBED_LIFETIME_SECONDS) {
    const { header, privateKey } = this.keys.get(algorithm);
    const issuedAt = Math.floor(Date.now() / 1000);
    const standing = { iss: ISSUER, aud: AUDIENCE, iat: issuedAt, exp: issuedAt + lifetimeSeconds };
    const payload = encoded({ ...standing, jti: randomUUID(), ...claims });
    const signingInput = `${header}.${payload}`;
    const { digest, options } = ALGORITHMS[algorithm];
    const signature = await signAside(digest, Buffer.from(signingInput), { key: privateKey, ...options });
    return `${signingInput}.${signature.toString('base64url')}`;
  }
}

function keyOf(algorithm) {
  const kid = `partner-${algorithm}`;
  return { kid, header: encoded({ alg: algorithm, typ: 'JWT', kid }), ...ALGORITHMS[algorithm].pair() };
}

function encoded(members) {
  return Buffer.from(JSON.stringify(members)).toString('base64url');
}
