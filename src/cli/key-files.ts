// The files in which a partner's key pair is kept and published.
import type { KeyObject } from 'node:crypto';
import { createPublicKey, createPrivateKey } from 'node:crypto';
import type { Algorithm, JwsSigner } from '../token-exchange/instance.js';
import { thumbprintOf, algorithmsFitting, keyFits, signatureParameters } from '../token-exchange/instance.js';
import type { CommandContext } from './command-settings.js';
import { CommandError } from '../administration/command-error.js';
import { readTextFile } from './text-file.js';

/** The files of a pair, each in the form that its reader expects; the third is a key set (RFC 7517), to publish. */
export function keyTexts(privateKey: KeyObject, kid: string, alg: Algorithm) {
  const publicKey = createPublicKey(privateKey);
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' };
  return {
    privatePem: privatePem(privateKey),
    publicPem: publicPem(publicKey),
    jwks: `${JSON.stringify({ keys: [jwk] }, null, 2)}\n`,
  };
}

/** PKCS #8. */
export function privatePem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export function publicPem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

/** The default `kid` of a key: its thumbprint (RFC 7638). */
export async function defaultKid(key: KeyObject): Promise<string> {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return (await thumbprintOf(publicKey)) ?? 'key-1';
}

/** The files beside that of a private key: `partner.pem`, `partner.pub.pem` and `partner.jwks.json`. */
export function keyPaths(privatePath: string): { privateKey: string; publicKey: string; jwks: string } {
  const stem = privatePath.replace(/\.pem$/, '');
  return { privateKey: privatePath, publicKey: `${stem}.pub.pem`, jwks: `${stem}.jwks.json` };
}

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
  const pem = readTextFile(context, path);
  try {
    return createPrivateKey(pem);
  } catch {
    throw new CommandError(`${path} holds no private key in PEM without a passphrase`);
  }
}
