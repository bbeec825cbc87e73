// The key of a page, and its DPoP proofs (RFC 9449). The private key cannot be exported.

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' };

/** The request that a proof authenticates. */
export interface Proven {
  method: string;
  /** The address without query and fragment. */
  url: string;
  /** Seconds since the Unix epoch, by the instance's clock. */
  now: number;
  accessToken?: string;
  nonce?: string;
}

export class ProofKey {
  private constructor(
    readonly keys: CryptoKeyPair,
    private readonly jwk: JsonWebKey,
    /** RFC 7638. */
    readonly thumbprint: string,
  ) {}

  /** @throws TypeError or DOMException if the browser does not let this page create keys */
  static async create(): Promise<ProofKey> {
    return ProofKey.of(await crypto.subtle.generateKey(ALGORITHM, false, ['sign']));
  }

  static async of(keys: CryptoKeyPair): Promise<ProofKey> {
    const { crv, kty, x, y } = await crypto.subtle.exportKey('jwk', keys.publicKey);
    const jwk = { crv, kty, x, y };
    return new ProofKey(keys, jwk, await sha256(JSON.stringify(jwk)));
  }

  async proof({ method, url, now, accessToken, nonce }: Proven): Promise<string> {
    const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: this.jwk };
    const ath = accessToken === undefined ? undefined : await sha256(accessToken);
    const jti = base64url(crypto.getRandomValues(new Uint8Array(16)));
    const claims = { jti, htm: method, htu: url, iat: Math.floor(now), ath, nonce };
    const signed = [header, claims].map((part) => base64url(encoded(JSON.stringify(part)))).join('.');
    const signature = await crypto.subtle.sign(SIGNATURE, this.keys.privateKey, encoded(signed));
    return `${signed}.${base64url(new Uint8Array(signature))}`;
  }
}

async function sha256(text: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', encoded(text))));
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function base64url(bytes: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}
