// Checks one JWS signature with node:crypto.
import type { KeyObject } from 'node:crypto';
import { verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { Algorithm } from '../trust/algorithms.js';
import { familyOf, signatureParameters } from '../trust/algorithms.js';
import type { TrustedKey } from '../trust/trusted-key.js';

/** With a callback node:crypto verifies on libuv's thread pool, beside the event loop. */
const verifyBesideEventLoop = promisify(verify);

/**
 * Whether a signature is right (RFC 7518 §3, RFC 8037 §3.1). ECDSA signatures are `r || s` of fixed length; node:crypto
 * refuses every other length and zero values.
 *
 * Verifying is the largest part of an exchange. On the thread pool it uses another core where one is free.
 */
export async function isSignatureValid(
  algorithm: Algorithm,
  { publicKey }: Pick<TrustedKey, 'publicKey'>,
  signingInput: Buffer,
  signature: Buffer,
): Promise<boolean> {
  if (familyOf(algorithm) === 'RSA-PSS' && !hasLengthOfModulus(signature, publicKey)) return false;
  const { digest, key } = signatureParameters(algorithm, publicKey);
  return verifyBesideEventLoop(digest, signingInput, key, signature);
}

/** RFC 8017 §8.1.2 (1). OpenSSL takes one without its leading zeros too: a second spelling of the same token. */
function hasLengthOfModulus(signature: Buffer, { asymmetricKeyDetails }: KeyObject): boolean {
  return signature.length === Math.ceil((asymmetricKeyDetails?.modulusLength ?? 0) / 8);
}
