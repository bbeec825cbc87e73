// Keyed hashes of e-mail addresses and `sub`s, by which refusals of a person are found who is no user of the instance.
import { createHmac } from 'node:crypto';
import type { KeyRing } from '../platform/secrets/key-ring.js';
import type { ExternalPerson } from '../token-exchange/instance.js';
import { normalizeEmail } from '../users/email.js';

const PURPOSE = 'audit trail: persons of refused tokens';

/**
 * HMAC-SHA256 under keys derived from the sealing keys: without those, the hashes reveal nothing and no address can be tested
 * against them.
 */
export class PersonHashes {
  private derived: readonly Buffer[] | undefined;

  constructor(private readonly keyRing: Pick<KeyRing, 'deriveKeys'>) {}

  private get keys(): readonly Buffer[] {
    return (this.derived ??= this.keyRing.deriveKeys(PURPOSE));
  }

  /** The stored hashes of a person, under the first key. */
  of({ subject, email }: ExternalPerson): readonly Buffer[] {
    const [key] = this.keys;
    if (key === undefined) return [];
    return [
      hashOf(key, 'sub', subject),
      ...(email === undefined ? [] : [hashOf(key, 'email', normalizeEmail(email))]),
    ];
  }

  /** The hashes that may be stored for this e-mail address or `sub`, under each key of the ring. */
  sought(text: string): readonly Buffer[] {
    return this.keys.flatMap((key) => [hashOf(key, 'sub', text), hashOf(key, 'email', normalizeEmail(text))]);
  }
}

function hashOf(key: Buffer, kind: 'sub' | 'email', value: string): Buffer {
  return createHmac('sha256', key).update(`${kind}:${value}`).digest();
}
