// Reads the public key that a partner has sent.
import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import { isJsonObject, parseStrictJson } from '../../platform/json/strict-json.js';
import { pemFault, SENT_PRIVATE_KEY } from '../../platform/text/pem-fault.js';
import type { Algorithm } from '../../token-exchange/instance.js';
import { algorithmsFitting, thumbprintOf } from '../../token-exchange/instance.js';

export interface ReadPublicKey {
  readonly kid: string;
  /** Empty if the key fits none. */
  readonly algorithms: readonly Algorithm[];
  /** PEM. */
  readonly key: string;
}

/** Thrown for a string that is not a public key. The message completes a sentence that begins with "it", and never repeats the string. */
export class PublicKeyError extends Error {}

/**
 * Reads a PEM or a JWK (RFC 7517). The `kid` is the JWK's, or the thumbprint (RFC 7638).
 * @throws PublicKeyError
 */
export async function readPublicKey(text: string): Promise<ReadPublicKey> {
  const jwk = jwkIn(text);
  const key = jwk === undefined ? ofPem(text) : ofJwk(jwk);
  const fitting = algorithmsFitting(key);
  const named = fitting.filter((algorithm) => algorithm === jwk?.['alg']);
  const ownKid = jwk?.['kid'];
  return {
    kid: typeof ownKid === 'string' && ownKid !== '' ? ownKid : ((await thumbprintOf(key)) ?? 'key-1'),
    // An RSA key fits several: the first one is the usual one.
    algorithms: [...named, ...fitting].slice(0, 1),
    key: jwk === undefined ? text : key.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

function jwkIn(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value = parseStrictJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    throw new PublicKeyError('is not valid JSON, so it is no JWK');
  }
}

function ofPem(text: string): KeyObject {
  try {
    if (!text.includes('PRIVATE KEY')) return createPublicKey(text);
  } catch {
    // Falls through to the same words.
  }
  throw new PublicKeyError(pemFault(text, 'public key'));
}

function ofJwk(jwk: Readonly<Record<string, unknown>>): KeyObject {
  if ('d' in jwk || jwk['kty'] === 'oct') throw new PublicKeyError(SENT_PRIVATE_KEY);
  if ('keys' in jwk) throw new PublicKeyError('is a key set: give one key of it, or the address of the set');
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    throw new PublicKeyError('is a JWK of a kind that is not supported, or it is damaged');
  }
}
