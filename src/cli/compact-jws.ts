// Makes signed tokens: compact JWS (RFC 7515 §7.1) with a private key in PEM.
import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import type { Algorithm } from '../token-exchange/keys/algorithms.js';
import { algorithmsFitting, keyFits, verificationParameters } from '../token-exchange/keys/algorithms.js';
import type { CommandContext } from './command-context.js';
import { CommandError } from './command-error.js';
import { readTextFile } from './text-file.js';

/**
 * Reads a private key that signs with an algorithm.
 * @throws CommandError when the file holds no such key
 */
export function readSigningKey(context: CommandContext, path: string, algorithm: Algorithm): KeyObject {
  const key = parsePrivateKey(readTextFile(context, path), path);
  const publicKey = createPublicKey(key);
  if (keyFits(publicKey, algorithm)) return key;
  const fitting = algorithmsFitting(publicKey).join(', ') || 'none that is supported';
  throw new CommandError(`The key in ${path} does not fit ${algorithm}; it fits ${fitting}.`);
}

/** Signs a payload. `header` comes before `alg`, which the algorithm decides. */
export function compactJws(
  payload: object,
  header: object,
  { key: privateKey, algorithm }: { key: KeyObject; algorithm: Algorithm },
): string {
  const signingInput = `${base64url({ ...header, alg: algorithm })}.${base64url(payload)}`;
  const { digest, key } = verificationParameters(algorithm, privateKey);
  return `${signingInput}.${sign(digest, Buffer.from(signingInput), key).toString('base64url')}`;
}

function parsePrivateKey(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new CommandError(`${path} holds no private key in PEM without a passphrase`);
  }
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');
}
