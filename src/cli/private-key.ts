// Reads a private key from a file, and says how it signs.
import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { Algorithm, JwsSigner } from '../token-exchange/plain.js';
import { algorithmsFitting, keyFits, signatureParameters } from '../token-exchange/plain.js';
import type { CommandContext } from './command-context.js';
import { CommandError } from '../administration/command-error.js';
import { readTextFile } from './text-file.js';

/**
 * Reads a private key in PEM, to sign by an algorithm.
 * @throws CommandError when the file holds no such key
 */
export function readSigner(context: CommandContext, path: string, algorithm: Algorithm): JwsSigner {
  const key = readPrivateKey(context, path);
  const publicKey = createPublicKey(key);
  if (keyFits(publicKey, algorithm)) return signatureParameters(algorithm, key);
  const fitting = algorithmsFitting(publicKey).join(', ') || 'none that is supported';
  throw new CommandError(`The key in ${path} does not fit ${algorithm}; it fits ${fitting}.`);
}

/** @throws CommandError when the file holds none */
export function readPrivateKey(context: CommandContext, path: string): KeyObject {
  return parsePrivateKey(readTextFile(context, path), path);
}

/** @throws CommandError where the text is none */
export function parsePrivateKey(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new CommandError(`${path} holds no private key in PEM without a passphrase`);
  }
}
