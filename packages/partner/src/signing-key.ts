// Reads a private key in any supported form, for signing and publishing.
import type { JsonWebKey, webcrypto } from 'node:crypto';
import { createPrivateKey, createPublicKey, KeyObject } from 'node:crypto';
import { types } from 'node:util';
import type { JWK } from 'jose';
import { calculateJwkThumbprint } from 'jose';
import { requireObject } from './own-copy.js';
import { invalidOption } from './partner-error.js';

export type SigningAlgorithm =
  'RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512' | 'EdDSA';

/** A private key: PEM (PKCS #8, PKCS #1 or SEC 1, not encrypted) as a string or as bytes, a JWK, or a key of Node.js. */
export type PrivateKey = string | Uint8Array | JWK | KeyObject | webcrypto.CryptoKey;

/** A key, with the properties that the instance's entry has. */
export interface NamedKey {
  readonly key: PrivateKey;
  /** As in the trusted key entry. Default: the JWK's `kid`, otherwise the thumbprint (RFC 7638). */
  readonly kid?: string;
  /** Default: the algorithm of the JWK or CryptoKey, otherwise by key type: RS256, ES256, ES384, ES512 or EdDSA. */
  readonly alg?: SigningAlgorithm;
}

export type KeyInput = PrivateKey | NamedKey;

/** The shortest RSA key that the instance accepts, in bits. */
const SHORTEST_RSA_BITS = 2048;
const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const;
/** The algorithms of a key, the usual one first. */
const BY_TYPE: Readonly<Record<string, readonly SigningAlgorithm[]>> = {
  rsa: RSA,
  prime256v1: ['ES256'],
  secp384r1: ['ES384'],
  secp521r1: ['ES512'],
  ed25519: ['EdDSA'],
};

export class SigningKey {
  private thumbprint: Promise<string> | undefined;

  private constructor(
    readonly privateKey: KeyObject,
    readonly alg: SigningAlgorithm,
    private readonly givenKid: string | undefined,
  ) {}

  /** @throws PartnerError `invalid_option`, which reveals nothing of the key */
  static read(input: KeyInput, name: string): SigningKey {
    if (isNamed(input)) requireObject(input, name, { key: true, kid: true, alg: true });
    const { key: given, kid, alg } = isNamed(input) ? input : { key: input };
    const key = given instanceof Uint8Array ? Buffer.from(given).toString('utf8') : given;
    const privateKey = privateKeyOf(key, name);
    const told = types.isKeyObject(key) || typeof key === 'string' ? {} : toldBy(key);
    const algorithm = algorithmOf(privateKey, alg ?? told.alg, name);
    const givenKid = kid ?? told.kid;
    if (givenKid !== undefined && (typeof givenKid !== 'string' || givenKid === ''))
      throw invalidOption(`${name}: kid must be a text`);
    return new SigningKey(privateKey, algorithm, givenKid);
  }

  /** Whether both have the same kid: by name, or as the same key if neither has a name. */
  isNamedLike(other: SigningKey): boolean {
    return this.givenKid === undefined && other.givenKid === undefined
      ? this.privateKey.equals(other.privateKey)
      : this.givenKid === other.givenKid;
  }

  async kid(): Promise<string> {
    if (this.givenKid !== undefined) return this.givenKid;
    this.thumbprint ??= calculateJwkThumbprint(this.bareJwk());
    return this.thumbprint;
  }

  /** The public key as a JWK with `kid`, `alg` and `use` (RFC 7517 §4). */
  async publicJwk(): Promise<JWK> {
    return { ...this.bareJwk(), kid: await this.kid(), alg: this.alg, use: 'sig' };
  }

  /** The public key as PEM (SPKI), for a static entry. */
  publicPem(): string {
    return createPublicKey(this.privateKey).export({ type: 'spki', format: 'pem' }).toString();
  }

  private bareJwk(): JWK {
    return createPublicKey(this.privateKey).export({ format: 'jwk' });
  }
}

function isNamed(input: KeyInput): input is NamedKey {
  return typeof input === 'object' && input !== null && !types.isKeyObject(input) && 'key' in input;
}

/** The input after bytes are decoded. */
type ReadableKey = Exclude<PrivateKey, Uint8Array>;

function privateKeyOf(key: ReadableKey, name: string): KeyObject {
  if (typeof key !== 'string' && (typeof key !== 'object' || key === null))
    throw invalidOption(`${name} must be a private key: PEM, JWK, KeyObject or CryptoKey`);
  const object = objectOf(key, name);
  if (object.type !== 'private')
    throw invalidOption(`${name} must be a private key, and is a ${object.type} one`);
  return object;
}

/** Hides OpenSSL's message, because OpenSSL has seen the key. */
function objectOf(key: ReadableKey, name: string): KeyObject {
  if (types.isKeyObject(key)) return key;
  if (types.isCryptoKey(key)) return KeyObject.from(key);
  try {
    return typeof key === 'string'
      ? createPrivateKey(withLineBreaks(key))
      : createPrivateKey({ key: key as JsonWebKey, format: 'jwk' });
  } catch {
    throw invalidOption(`${name} ${faultOf(key)}`);
  }
}

/** Environment variables and JSON often contain a PEM with `\\n` as two characters. */
function withLineBreaks(pem: string): string {
  return pem.replace(/\\r\\n|\\n/g, '\n');
}

function faultOf(key: string | JWK): string {
  if (typeof key !== 'string') return 'is no JWK of a private key';
  if (key.includes('ENCRYPTED'))
    return 'is an encrypted PEM: decrypt it first, createPrivateKey of node:crypto does';
  if (key.includes('PUBLIC KEY')) return 'must be a private key, but is a public key';
  if (key.includes('PRIVATE KEY-----'))
    return 'is a damaged PEM: it needs a BEGIN line, lines of base64 and an END line';
  return "is not the PEM of a private key; if it is a path, pass the file's content";
}

/** The `kid` and `alg` that a JWK or CryptoKey has. */
function toldBy(key: JWK | webcrypto.CryptoKey): { kid?: string; alg?: string } {
  if (!types.isCryptoKey(key))
    return {
      ...(key.kid === undefined ? {} : { kid: key.kid }),
      ...(key.alg === undefined ? {} : { alg: key.alg }),
    };
  const { name, hash } = key.algorithm as { name: string; hash?: { name: string } };
  const bits = hash?.name.replace('SHA-', '') ?? '';
  if (name === 'RSASSA-PKCS1-v1_5') return { alg: `RS${bits}` };
  return name === 'RSA-PSS' ? { alg: `PS${bits}` } : {};
}

function algorithmOf(key: KeyObject, wanted: string | undefined, name: string): SigningAlgorithm {
  const { namedCurve, modulusLength = SHORTEST_RSA_BITS } = key.asymmetricKeyDetails ?? {};
  const fitting = BY_TYPE[namedCurve ?? key.asymmetricKeyType ?? ''] ?? [];
  const [usual] = fitting;
  // An RSA-PSS key signs like an RSA key with PS256, but few libraries can read its own form.
  if (key.asymmetricKeyType === 'rsa-pss')
    throw invalidOption(`${name} is an RSA-PSS key, which is not taken: take an RSA key with alg PS256`);
  if (usual === undefined) throw invalidOption(`${name} is of a type that the instance does not take`);
  if (modulusLength < SHORTEST_RSA_BITS)
    throw invalidOption(`${name} is an RSA key of less than ${SHORTEST_RSA_BITS} bits`);
  if (wanted === undefined) return usual;
  // RFC 9864 names EdDSA on this curve after the curve.
  const found = fitting.find((each) => each === (wanted === 'Ed25519' ? 'EdDSA' : wanted));
  if (found === undefined)
    throw invalidOption(`${name} can sign ${fitting.join(', ')}, and not what alg says`);
  return found;
}
