// Nonces for DPoP proofs (RFC 9449 §8, §9): every instance makes the same ones and knows those of the others, and none is stored.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '../../platform/secrets/key-ring.js';

const PURPOSE = 'dpop-nonce';
const MINUTE_SECONDS = 60;

/**
 * Each minute has a nonce: its number under a key that is derived from a sealing key. It is taken until the next minute is over.
 * @rule D143 Nonces are the same on all instances, which share the sealing keys and the clock of the database.
 */
export class DpopNonces {
  private readonly keys: readonly Buffer[];
  private latest: { readonly minute: number; readonly nonce: string } | undefined;

  constructor(keyRing: KeyRing) {
    this.keys = keyRing.deriveKeys(PURPOSE);
  }

  /** The nonce to be given out. @param now seconds since the Unix epoch, by the clock of the database */
  at(now: number): string {
    const minute = Math.floor(now / MINUTE_SECONDS);
    if (this.latest?.minute !== minute) {
      const [first = Buffer.of()] = this.keys;
      this.latest = { minute, nonce: nonceOf(first, minute) };
    }
    return this.latest.nonce;
  }

  /** Another instance may be a little ahead, so that the next minute has begun there. */
  isGood(nonce: unknown, now: number): boolean {
    if (typeof nonce !== 'string') return false;
    const minute = Math.floor(now / MINUTE_SECONDS);
    return [minute, minute - 1, minute + 1].some((one) =>
      this.keys.some((key) => isSame(nonce, nonceOf(key, one))),
    );
  }
}

function nonceOf(key: Buffer, minute: number): string {
  return createHmac('sha256', key).update(String(minute)).digest('base64url');
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
