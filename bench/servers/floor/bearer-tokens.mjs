// Knows the users of access tokens: each token is verified once and remembered by its hash.
import { hash } from 'node:crypto';

const BEARER = 'Bearer ';
const REMEMBERED_TOKENS = 10_000;

export class BearerTokens {
  constructor(signer) {
    this.signer = signer;
    this.known = new Map();
  }

  /** User and token id of an `Authorization` header; undefined when it holds no valid access token. */
  read(header) {
    if (header === undefined || !header.startsWith(BEARER)) return undefined;
    const token = header.slice(BEARER.length);
    const key = hash('sha256', token, 'base64');
    const claims = this.known.get(key) ?? this.remember(key, this.signer.verify(token));
    if (claims === undefined || claims.exp <= Date.now() / 1000) return undefined;
    return { userId: claims.sub, tokenId: claims.jti };
  }

  remember(key, claims) {
    if (claims !== undefined && this.known.size < REMEMBERED_TOKENS) this.known.set(key, claims);
    return claims;
  }
}
