// The ten signature algorithms of the service: their families, the keys that fit them, and how they sign and verify.
import type { KeyObject } from 'node:crypto';
import { constants } from 'node:crypto';
import { isSoundEd25519Key } from './ed25519-point.js';

/** What RFC 7518 §3 and RFC 8037 §3.1 say of one algorithm. */
interface AlgorithmRow {
  readonly family: 'RSA' | 'RSA-PSS' | 'EC' | 'Edwards';
  /** Digest for node:crypto; null where the algorithm brings its own. */
  readonly digest: 'sha256' | 'sha384' | 'sha512' | null;
  /** OpenSSL's name of the only curve that fits. */
  readonly curve?: 'prime256v1' | 'secp384r1' | 'secp521r1';
}

const ROWS = {
  RS256: { family: 'RSA', digest: 'sha256' },
  RS384: { family: 'RSA', digest: 'sha384' },
  RS512: { family: 'RSA', digest: 'sha512' },
  PS256: { family: 'RSA-PSS', digest: 'sha256' },
  PS384: { family: 'RSA-PSS', digest: 'sha384' },
  PS512: { family: 'RSA-PSS', digest: 'sha512' },
  ES256: { family: 'EC', digest: 'sha256', curve: 'prime256v1' },
  ES384: { family: 'EC', digest: 'sha384', curve: 'secp384r1' },
  ES512: { family: 'EC', digest: 'sha512', curve: 'secp521r1' },
  EdDSA: { family: 'Edwards', digest: null },
} as const satisfies Record<string, AlgorithmRow>;

/** A supported `alg` header value. */
export type Algorithm = keyof typeof ROWS;

/** The supported algorithms in the order of the specification. */
export const ALGORITHMS = Object.keys(ROWS) as readonly Algorithm[];

const DIGEST_BYTES = { sha256: 32, sha384: 48, sha512: 64 };

/** RFC 7518 §3.3 asks for 2048 bits or more. */
export const MINIMUM_RSA_BITS = 2048;

/**
 * @rule 5.2.2 Only the asymmetric algorithms of the table are accepted: never HMAC, never `none`.
 */
export function isAlgorithm(value: unknown): value is Algorithm {
  return typeof value === 'string' && Object.hasOwn(ROWS, value);
}

/**
 * The algorithm that the header of a token, or a fetched key, names.
 * @rule D56 `Ed25519` (RFC 9864) is `EdDSA` here. In the configuration it stays as the contract has it.
 */
export function algorithmNamed(name: unknown): Algorithm | undefined {
  if (name === 'Ed25519') return 'EdDSA';
  return isAlgorithm(name) ? name : undefined;
}

export function familyOf(algorithm: Algorithm): AlgorithmRow['family'] {
  return ROWS[algorithm].family;
}

/** The algorithms that a public key can verify; empty where the key is of no use here (too small, weak, unknown curve). */
export function algorithmsFitting(key: KeyObject): readonly Algorithm[] {
  return ALGORITHMS.filter((algorithm) => keyFits(key, algorithm));
}

/** Whether a public key is of the kind, curve and size that an algorithm asks for. */
export function keyFits(key: KeyObject, algorithm: Algorithm): boolean {
  const row: AlgorithmRow = ROWS[algorithm];
  const details = key.asymmetricKeyDetails;
  switch (row.family) {
    case 'RSA':
      return key.asymmetricKeyType === 'rsa' && isStrong(details);
    case 'RSA-PSS':
      return isPssKey(key, row.digest) && isStrong(details);
    case 'EC':
      return key.asymmetricKeyType === 'ec' && details?.namedCurve === row.curve;
    case 'Edwards':
      return key.asymmetricKeyType === 'ed25519' && isSoundEd25519Key(key);
  }
}

/** With the exponent 1 everything is its own signature: RFC 8017 §3.1 asks for an odd one of 3 or more. */
function isStrong({
  modulusLength = 0,
  publicExponent = 0n,
}: KeyObject['asymmetricKeyDetails'] = {}): boolean {
  return modulusLength >= MINIMUM_RSA_BITS && publicExponent >= 3n && publicExponent % 2n === 1n;
}

/**
 * A plain RSA key serves every PS algorithm; an id-RSASSA-PSS key with parameters only the one that they leave. RFC 7518
 * §3.5 has both digests be the algorithm's, and the salt as long as the digest, while the parameter is its least length.
 */
function isPssKey(key: KeyObject, digest: AlgorithmRow['digest']): boolean {
  if (key.asymmetricKeyType === 'rsa') return true;
  if (key.asymmetricKeyType !== 'rsa-pss' || digest === null) return false;
  const {
    hashAlgorithm = digest,
    mgf1HashAlgorithm = digest,
    saltLength = 0,
  } = key.asymmetricKeyDetails ?? {};
  return hashAlgorithm === digest && mgf1HashAlgorithm === digest && saltLength <= DIGEST_BYTES[digest];
}

/** The digest and key parameters with which node:crypto signs by this algorithm, or verifies. */
export function signatureParameters(algorithm: Algorithm, key: KeyObject) {
  const { family, digest } = ROWS[algorithm];
  if (family === 'EC') return { digest, key: { key, dsaEncoding: 'ieee-p1363' as const } };
  if (family !== 'RSA-PSS') return { digest, key: { key } };
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return { digest, key: { key, padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } };
}
