// Keyed hashes of e-mail addresses and `sub`s, to find refusals of persons who are not users of the instance.
import { createHmac } from 'node:crypto';
import type { KeyRing } from '../platform/secrets/key-ring.js';
import type { ExternalPerson } from '../token-exchange/instance.js';
import { normalizeEmail } from '../users/user.repository.js';

const PURPOSE = 'audit trail: persons of refused tokens';

/**
 * HMAC-SHA256 with keys that are derived from the sealing keys. Without these, the hashes reveal nothing, and
 * nobody can test an address against them.
 */
export class PersonHashes {
  private derived: readonly Buffer[] | undefined;

  constructor(private readonly keyRing: Pick<KeyRing, 'deriveKeys'>) {}

  private get keys(): readonly Buffer[] {
    return (this.derived ??= this.keyRing.deriveKeys(PURPOSE));
  }

  /** A person's hashes to store, with the first key. */
  of({ subject, email }: ExternalPerson): readonly Buffer[] {
    const [key] = this.keys;
    if (key === undefined) return [];
    return [
      hashOf(key, 'sub', subject),
      ...(email === undefined ? [] : [hashOf(key, 'email', normalizeEmail(email))]),
    ];
  }

  /** The possible stored hashes of an e-mail address or `sub`, with every key of the ring. */
  sought(text: string): readonly Buffer[] {
    return this.keys.flatMap((key) => [hashOf(key, 'sub', text), hashOf(key, 'email', normalizeEmail(text))]);
  }
}

function hashOf(key: Buffer, kind: 'sub' | 'email', value: string): Buffer {
  return createHmac('sha256', key).update(`${kind}:${value}`).digest();
}
