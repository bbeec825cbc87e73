// Writes a compact JWS (RFC 7515 §7.1).
import type { SignKeyObjectInput } from 'node:crypto';
import { sign } from 'node:crypto';

/** How node:crypto signs by one algorithm with one key. */
export interface JwsSigner {
  /** Null where the algorithm brings its own. */
  readonly digest: string | null;
  /** ECDSA needs `dsaEncoding: 'ieee-p1363'`, for the signature of RFC 7518 §3.4: `r || s`. */
  readonly key: SignKeyObjectInput;
}

/**
 * Signs a payload under a header, whose `alg` must be the signer's. On the event loop: a trip to another thread costs more
 * than it saves (docs/internals/performance.md).
 */
export function signCompactJws(header: object, payload: object, { digest, key }: JwsSigner): string {
  const signingInput = `${base64url(header)}.${base64url(payload)}`;
  return `${signingInput}.${sign(digest, Buffer.from(signingInput, 'latin1'), key).toString('base64url')}`;
}

/** How many characters such a JWS has. @param signatureBytes that the algorithm makes */
export function lengthOfCompactJws(header: object, payload: object, signatureBytes: number): number {
  const bytes = [header, payload].map((part) => Buffer.byteLength(JSON.stringify(part)));
  return [...bytes, signatureBytes].reduce((sum, count) => sum + Math.ceil((count * 4) / 3), 2);
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');
}
