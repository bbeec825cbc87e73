// Takes the time of a signature's verification where no key is held, so that a refusal does not tell by its time whose keys are.
import type { KeyObject } from 'node:crypto';
import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { CompactJws } from './compact-jws.js';
import type { Algorithm } from '../keys/algorithms.js';
import { curveOf, familyOf } from '../keys/algorithms.js';
import { isSignatureValid } from './signature.js';

/** Of RSA keys with 2048, 3072 and 4096 bits; what others sign is refused by its length, with nearly all keys. */
const RSA_SIGNATURE_BYTES = [256, 384, 512];

/** Keys of nobody, made when they are first needed. */
const decoys = new Map<string, KeyObject>();

/**
 * Verifies a signature by a key of nobody; what comes of it does not matter.
 * @rule D101 Unknown issuer, unknown kid and wrong signature take one verification each, of the algorithm that was asked for.
 */
export async function verifyByDecoy(
  algorithm: Algorithm,
  { signingInput, signature }: Pick<CompactJws, 'signingInput' | 'signature'>,
): Promise<void> {
  const publicKey = decoyFor(algorithm, signature.length);
  if (publicKey !== undefined) await isSignatureValid(algorithm, { publicKey }, signingInput, signature);
}

function decoyFor(algorithm: Algorithm, signatureBytes: number): KeyObject | undefined {
  const family = familyOf(algorithm);
  const isRsa = family === 'RSA' || family === 'RSA-PSS';
  if (isRsa && !RSA_SIGNATURE_BYTES.includes(signatureBytes)) return undefined;
  const name = isRsa ? `RSA ${signatureBytes}` : algorithm;
  const known = decoys.get(name);
  if (known !== undefined) return known;
  const made = isRsa ? rsaDecoy(signatureBytes) : curveDecoy(algorithm);
  decoys.set(name, made);
  return made;
}

/** To verify takes any odd modulus; primes, which take long to find, only who signs would need. */
function rsaDecoy(bytes: number): KeyObject {
  const modulus = randomBytes(bytes);
  modulus[0] = (modulus[0] ?? 0) | 0x80;
  modulus[bytes - 1] = (modulus[bytes - 1] ?? 0) | 1;
  const key = { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' };
  return createPublicKey({ key, format: 'jwk' });
}

function curveDecoy(algorithm: Algorithm): KeyObject {
  const namedCurve = curveOf(algorithm);
  if (namedCurve === undefined) return generateKeyPairSync('ed25519').publicKey;
  return generateKeyPairSync('ec', { namedCurve }).publicKey;
}
