// A key pair of the demo's partner: created at first use, exported as PEM and JWK, and used to sign.
import type { JsonWebKey, KeyObject, SigningOptions } from 'node:crypto';
import { constants, generateKeyPairSync, sign } from 'node:crypto';

interface KeyPair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

interface Scheme {
  makePair: () => KeyPair;
  /** The digest's name; null if the algorithm hashes by itself (EdDSA). */
  digest: string | null;
  options: SigningOptions;
}

const { RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_DIGEST } = constants;
const makeRsaPair = (): KeyPair => generateKeyPairSync('rsa', { modulusLength: 2048 });

function pkcs1(digest: string): Scheme {
  return { makePair: makeRsaPair, digest, options: { padding: RSA_PKCS1_PADDING } };
}

function pss(digest: string): Scheme {
  const options = { padding: RSA_PKCS1_PSS_PADDING, saltLength: RSA_PSS_SALTLEN_DIGEST };
  return { makePair: makeRsaPair, digest, options };
}

/** A JWS signature is r followed by s (RFC 7518 §3.4), not OpenSSL's default DER. */
function ecdsa(namedCurve: string, digest: string): Scheme {
  const makePair = (): KeyPair => generateKeyPairSync('ec', { namedCurve });
  return { makePair, digest, options: { dsaEncoding: 'ieee-p1363' } };
}

const SCHEMES = {
  RS256: pkcs1('sha256'),
  RS384: pkcs1('sha384'),
  RS512: pkcs1('sha512'),
  PS256: pss('sha256'),
  PS384: pss('sha384'),
  PS512: pss('sha512'),
  ES256: ecdsa('prime256v1', 'sha256'),
  ES384: ecdsa('secp384r1', 'sha384'),
  ES512: ecdsa('secp521r1', 'sha512'),
  EdDSA: { makePair: () => generateKeyPairSync('ed25519'), digest: null, options: {} },
} satisfies Record<string, Scheme>;

export type SigningAlgorithm = keyof typeof SCHEMES;

/** The ten algorithms of the contract, section 2.1. */
export const SIGNING_ALGORITHMS = Object.keys(SCHEMES) as SigningAlgorithm[];

/** A key pair with its id. It is created when it is needed, because an RSA pair takes a while. */
export class SigningKey {
  private madePair: KeyPair | undefined;

  constructor(
    readonly kid: string,
    readonly algorithm: SigningAlgorithm,
  ) {}

  publicKeyPem(): string {
    return this.pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  }

  privateKeyPem(): string {
    return this.pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  }

  /** The public key as a JWK with `kid`, `alg` and `use` (RFC 7517 §4). */
  publicJwk(): JsonWebKey {
    const members = this.pair.publicKey.export({ format: 'jwk' });
    return { ...members, kid: this.kid, alg: this.algorithm, use: 'sig' };
  }

  /** The JWS signature over a signing input (RFC 7515 §5.1), base64url-encoded. */
  signature(signingInput: string): string {
    const { digest, options }: Scheme = SCHEMES[this.algorithm];
    const key = { key: this.pair.privateKey, ...options };
    return sign(digest, Buffer.from(signingInput), key).toString('base64url');
  }

  private get pair(): KeyPair {
    this.madePair ??= SCHEMES[this.algorithm].makePair();
    return this.madePair;
  }
}
