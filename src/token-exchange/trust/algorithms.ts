// The signature algorithms, the keys that fit them, and the thumbprints of keys.
import type { KeyObject } from 'node:crypto';
import { constants, generateKeyPairSync } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';

/** The definition of an algorithm by RFC 7518 §3 or RFC 8037 §3.1. */
type AlgorithmRow =
  | { readonly family: 'RSA' | 'RSA-PSS'; readonly digest: Digest }
  /** `curve` is OpenSSL's name of the only fitting curve. */
  | {
      readonly family: 'EC';
      readonly digest: Digest;
      readonly curve: 'prime256v1' | 'secp384r1' | 'secp521r1';
    }
  /** The algorithm has its own digest. */
  | { readonly family: 'Edwards'; readonly digest: null };

/** The name in node:crypto. */
type Digest = 'sha256' | 'sha384' | 'sha512';

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

export type Algorithm = keyof typeof ROWS;

/** The supported algorithms in the order of the specification. */
export const ALGORITHMS = Object.keys(ROWS) as readonly Algorithm[];

const DIGEST_BYTES = { sha256: 32, sha384: 48, sha512: 64 };

/** RFC 7518 §3.3 requires 2048 bits or more. */
export const MINIMUM_RSA_BITS = 2048;
/** Gives 128 bits of security (NIST SP 800-57, part 1, table 2). */
const NEW_RSA_BITS = 3072;

/**
 * @rule 2.1.supported = 5.2.2 Only the asymmetric algorithms of the table are accepted: never HMAC, never `none`.
 */
export function isAlgorithm(value: unknown): value is Algorithm {
  return typeof value === 'string' && Object.hasOwn(ROWS, value);
}

/**
 * The algorithm that the header of a token, or a fetched key, names.
 * `Ed25519` (RFC 9864) means `EdDSA` (D35). The configuration accepts only the names of the contract.
 */
export function algorithmNamed(name: unknown): Algorithm | undefined {
  if (name === 'Ed25519') return 'EdDSA';
  return isAlgorithm(name) ? name : undefined;
}

export function familyOf(algorithm: Algorithm): AlgorithmRow['family'] {
  return ROWS[algorithm].family;
}

/** The algorithms that a public key can verify; empty if the key is unusable (too small, weak, unknown curve). */
export function algorithmsFitting(key: KeyObject): readonly Algorithm[] {
  return ALGORITHMS.filter((algorithm) => keyFits(key, algorithm));
}

/** Whether a public key has the type, curve and size that an algorithm requires. */
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

export function newPrivateKey(algorithm: Algorithm): KeyObject {
  const row: AlgorithmRow = ROWS[algorithm];
  switch (row.family) {
    case 'RSA':
    case 'RSA-PSS':
      return generateKeyPairSync('rsa', { modulusLength: NEW_RSA_BITS }).privateKey;
    case 'EC':
      return generateKeyPairSync('ec', { namedCurve: row.curve }).privateKey;
    case 'Edwards':
      return generateKeyPairSync('ed25519').privateKey;
  }
}

/** With the exponent 1 every message is its own signature. RFC 8017 §3.1 requires an odd one of 3 or more. */
function isStrong({
  modulusLength = 0,
  publicExponent = 0n,
}: KeyObject['asymmetricKeyDetails'] = {}): boolean {
  return modulusLength >= MINIMUM_RSA_BITS && publicExponent >= 3n && publicExponent % 2n === 1n;
}

/**
 * A plain RSA key fits every PS algorithm, an id-RSASSA-PSS key with parameters only one. RFC 7518 §3.5 requires both digests to
 * be the algorithm's, and the salt to be as long as the digest. The key's parameter is the minimum salt length.
 */
function isPssKey(key: KeyObject, digest: Digest): boolean {
  if (key.asymmetricKeyType === 'rsa') return true;
  if (key.asymmetricKeyType !== 'rsa-pss') return false;
  const {
    hashAlgorithm = digest,
    mgf1HashAlgorithm = digest,
    saltLength = 0,
  } = key.asymmetricKeyDetails ?? {};
  return hashAlgorithm === digest && mgf1HashAlgorithm === digest && saltLength <= DIGEST_BYTES[digest];
}

/** The digest and key parameters for signing and verifying with node:crypto. */
export function signatureParameters(algorithm: Algorithm, key: KeyObject) {
  const { family, digest } = ROWS[algorithm];
  if (family === 'EC') return { digest, key: { key, dsaEncoding: 'ieee-p1363' as const } };
  if (family !== 'RSA-PSS') return { digest, key: { key } };
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return { digest, key: { key, padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } };
}

/** The prime of the coordinates' field (RFC 8032 §5.1). */
const PRIME = 2n ** 255n - 19n;
/** The highest bit of a key's last byte is the sign of x. The other 255 bits are y, little-endian. */
const SIGN_BIT = 1n << 255n;

/** The y of the eight points whose order is 8 or less, two for each but the first and last. */
const SMALL_ORDER_Y: readonly bigint[] = [
  1n,
  0n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
  PRIME - 1n,
];

/**
 * Whether only the holder of the private key can sign for this key. node:crypto accepts two kinds of points for which that is
 * false, with either sign of x:
 *
 * - Points of small order. A signature is right when S·B = R + k·A. With such an A, k·A has at most eight values, and
 *   one is the neutral point. Anyone can then find S and R without a private key. RFC 8725 §3.4 requires a check.
 * - A y that is not below the prime is another encoding of a smaller y. RFC 8032 §5.1.3 refuses to decode it.
 */
export function isSoundEd25519Key(key: KeyObject): boolean {
  const bytes = Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
  const y = BigInt(`0x${bytes.reverse().toString('hex')}`) % SIGN_BIT;
  return y < PRIME && !SMALL_ORDER_Y.includes(y);
}

/** Cached, because anybody can send a token with a wrong signature, and its refusal names the key. */
const thumbprints = new WeakMap<KeyObject, Promise<string | undefined>>();

/** SHA-256 in base64url, as partners' tools print it; undefined for a key that has no form as JWK (id-RSASSA-PSS). */
export function thumbprintOf(key: KeyObject): Promise<string | undefined> {
  const thumbprint = thumbprints.get(key) ?? calculated(key);
  thumbprints.set(key, thumbprint);
  return thumbprint;
}

async function calculated(key: KeyObject): Promise<string | undefined> {
  if (key.asymmetricKeyType === 'rsa-pss') return undefined;
  return calculateJwkThumbprint(key.export({ format: 'jwk' }), 'sha256');
}
