// Checks one JWS signature with node:crypto.
import { verify } from 'node:crypto';
import type { Algorithm } from '../keys/algorithms.js';
import { verificationParameters } from '../keys/algorithms.js';
import type { TrustedKey } from '../keys/trusted-key.js';

/**
 * Whether a signature is right (RFC 7518 §3, RFC 8037 §3.1). ECDSA signatures are `r || s` of fixed length; node:crypto
 * refuses every other length and zero values.
 */
export function isSignatureValid(
  algorithm: Algorithm,
  { publicKey }: TrustedKey,
  signingInput: Buffer,
  signature: Buffer,
): boolean {
  const { digest, key } = verificationParameters(algorithm, publicKey);
  return verify(digest, signingInput, key, signature);
}
