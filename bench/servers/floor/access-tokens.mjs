// Signs access tokens (RFC 9068) with node:crypto.
import { generateKeyPairSync, sign } from 'node:crypto';

const KID = 'floor-1';

export class AccessTokens {
  constructor(issuer) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.issuer = issuer;
    this.privateKey = { key: privateKey, dsaEncoding: 'ieee-p1363' };
    this.publicJwk = { ...publicKey.export({ format: 'jwk' }), kid: KID, use: 'sig', alg: 'ES256' };
    this.header = encoded({ alg: 'ES256', typ: 'at+jwt', kid: KID });
  }

  keySet() {
    return { keys: [this.publicJwk] };
  }

  /** Times are in seconds since the Unix epoch. */
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
}

function encoded(members) {
  return Buffer.from(JSON.stringify(members)).toString('base64url');
}
