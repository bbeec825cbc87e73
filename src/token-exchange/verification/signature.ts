// Checks one JWS signature with node:crypto.
import { verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { Algorithm } from '../keys/algorithms.js';
import { signatureParameters } from '../keys/algorithms.js';
import type { TrustedKey } from '../keys/trusted-key.js';

/** With a callback node:crypto verifies on libuv's thread pool, beside the event loop. */
const verifyBesideEventLoop = promisify(verify);

/**
 * Whether a signature is right (RFC 7518 §3, RFC 8037 §3.1). ECDSA signatures are `r || s` of fixed length; node:crypto
 * refuses every other length and zero values.
 *
 * Verifying is the largest part of an exchange. On the thread pool it uses another core where one is free.
 */
export function isSignatureValid(
  algorithm: Algorithm,
  { publicKey }: TrustedKey,
  signingInput: Buffer,
  signature: Buffer,
): Promise<boolean> {
  const { digest, key } = signatureParameters(algorithm, publicKey);
  return verifyBesideEventLoop(digest, signingInput, key, signature);
}
