// Signs and verifies access tokens (RFC 9068) by node:crypto.
import { generateKeyPairSync, hash, sign, verify } from 'node:crypto';

const KID = 'floor-1';
const BEARER = 'Bearer ';
const REMEMBERED_TOKENS = 10_000;

export class AccessTokens {
  /** Claims by the hash of their token: each token is verified once. */
  known = new Map();

  constructor(issuer) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.issuer = issuer;
    this.publicKey = { key: publicKey, dsaEncoding: 'ieee-p1363' };
    this.privateKey = { key: privateKey, dsaEncoding: 'ieee-p1363' };
    this.publicJwk = { ...publicKey.export({ format: 'jwk' }), kid: KID, use: 'sig', alg: 'ES256' };
    this.header = encoded({ alg: 'ES256', typ: 'at+jwt', kid: KID });
  }

  keySet() {
    return { keys: [this.publicJwk] };
  }

  /** @param content times in seconds since the Unix epoch */
  sign({ tokenId, userId, clientId, issuedAt, expiresAt }) {
    const { issuer } = this;
    const claims = {
      iss: issuer,
      aud: issuer,
      sub: userId,
      client_id: clientId,
      jti: tokenId,
      iat: issuedAt,
      exp: expiresAt,
    };
    const signingInput = `${this.header}.${encoded(claims)}`;
    const signature = sign('sha256', Buffer.from(signingInput, 'latin1'), this.privateKey);
    return `${signingInput}.${signature.toString('base64url')}`;
  }

  /** User and token id of an `Authorization` header; undefined when it holds no valid access token. */
  readBearer(header) {
    if (header === undefined || !header.startsWith(BEARER)) return undefined;
    const token = header.slice(BEARER.length);
    const key = hash('sha256', token, 'base64');
    const claims = this.known.get(key) ?? this.remember(key, this.verify(token));
    if (claims === undefined || claims.exp <= Date.now() / 1000) return undefined;
    return { userId: claims.sub, tokenId: claims.jti };
  }

  remember(key, claims) {
    if (claims !== undefined && this.known.size < REMEMBERED_TOKENS) this.known.set(key, claims);
    return claims;
  }

  /** The claims of a token of this server's own, else undefined. */
  verify(token) {
    const [header, payload, signature] = token.split('.');
    if (header !== this.header || signature === undefined) return undefined;
    const signingInput = Buffer.from(`${header}.${payload}`, 'latin1');
    const isRight = verify('sha256', signingInput, this.publicKey, Buffer.from(signature, 'base64url'));
    return isRight ? JSON.parse(Buffer.from(payload, 'base64url').toString()) : undefined;
  }
}

function encoded(members) {
  return Buffer.from(JSON.stringify(members)).toString('base64url');
}
