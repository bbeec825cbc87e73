// The key that access tokens are bound to, and the proofs that it signs (RFC 9449).
import { createHash, randomUUID } from 'node:crypto';
import type { CryptoKey, JWK } from 'jose';
import { SignJWT, calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { PartnerClock } from './clock.js';

const ALG = 'ES256';

/** A request that a proof is for. */
export interface ProvedRequest {
  readonly method: string;
  /** With or without a query. */
  readonly url: string;
  /** `DPoP-Nonce` of the latest answer, where there was one. */
  readonly nonce?: string | undefined;
  /** The token that the request shows; none at the token endpoint. */
  readonly accessToken?: string;
}

/** Made anew in each process, and never written anywhere: whoever starts again exchanges again. */
export class DpopKey {
  private pair: Promise<{ privateKey: CryptoKey; jwk: JWK; thumbprint: string }> | undefined;

  constructor(private readonly clock: PartnerClock) {}

  async thumbprint(): Promise<string> {
    return (await this.made()).thumbprint;
  }

  /** To be sent once: a retry needs another one. */
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
