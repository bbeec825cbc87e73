// Names public keys without showing them: with their thumbprints (RFC 7638).
import type { KeyObject } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';

const known = new WeakMap<KeyObject, Promise<string | undefined>>();

/** SHA-256 in base64url, as partners' tools print it; undefined for a key that has no form as JWK (id-RSASSA-PSS). */
export function thumbprintOf(key: KeyObject): Promise<string | undefined> {
  const thumbprint = known.get(key) ?? calculated(key);
  known.set(key, thumbprint);
  return thumbprint;
}

async function calculated(key: KeyObject): Promise<string | undefined> {
  if (key.asymmetricKeyType === 'rsa-pss') return undefined;
  return calculateJwkThumbprint(key.export({ format: 'jwk' }), 'sha256');
}
