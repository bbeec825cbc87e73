// The key that access tokens are bound to, and the proofs that it signs (RFC 9449).
import { createHash, randomUUID } from 'node:crypto';
import type { CryptoKey, JWK } from 'jose';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { PartnerClock } from './clock.js';

const ALG = 'ES256';

/** The request that a proof authenticates. */
export interface ProvedRequest {
  readonly method: string;
  /** With or without a query. */
  readonly url: string;
  /** The latest answer's `DPoP-Nonce`, if it had one. */
  readonly nonce?: string | undefined;
  /** The request's access token; undefined at the token endpoint. */
  readonly accessToken?: string;
}

/** Each process creates its own key and never stores it, so a new process needs new exchanges. */
export class DpopKey {
  private pair: Promise<{ privateKey: CryptoKey; jwk: JWK; thumbprint: string }> | undefined;

  constructor(private readonly clock: PartnerClock) {}

  async thumbprint(): Promise<string> {
    return (await this.made()).thumbprint;
  }

  /** A proof for one request. A retry needs another one. */
  async proof({ method, url, nonce, accessToken }: ProvedRequest): Promise<string> {
    const { privateKey, jwk } = await this.made();
    const { origin, pathname } = new URL(url);
    const claims = {
      htm: method,
      htu: `${origin}${pathname}`,
      ...(nonce === undefined ? {} : { nonce }),
      ...(accessToken === undefined ? {} : { ath: hashOf(accessToken) }),
    };
    return new SignJWT(claims)
      .setProtectedHeader({ typ: 'dpop+jwt', alg: ALG, jwk })
      .setIssuedAt(Math.floor(this.clock.nowMs() / 1000))
      .setJti(randomUUID())
      .sign(privateKey);
  }

  private made() {
    return (this.pair ??= makePair());
  }
}

/** The private key cannot be exported. */
async function makePair() {
  const { privateKey, publicKey } = await generateKeyPair(ALG);
  const jwk = await exportJWK(publicKey);
  return { privateKey, jwk, thumbprint: await calculateJwkThumbprint(jwk) };
}

function hashOf(accessToken: string): string {
  return createHash('sha256').update(accessToken).digest('base64url');
}
