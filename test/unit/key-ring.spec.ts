// The key ring: sealing and opening, what is bound, rotation, and keys derived for other uses.
import { randomBytes } from 'node:crypto';
import { KeyRing, SealError } from '../../src/sealing/key-ring.js';

const [first, second] = [randomBytes(32), randomBytes(32)];
const ring = new KeyRing([first]);
const secret = Buffer.from('{"password":"correct horse"}');

describe('[D45] a sealed envelope', () => {
  it.each([0, 1, 28, 100_000])('[D45] opens to the %i bytes that were sealed', (length) => {
    const bytes = randomBytes(length);
    expect(ring.open(ring.seal(bytes, 'credential:1'), 'credential:1')).toEqual(bytes);
  });

  it('[D45] has a fresh IV each time and shows nothing of the secret', () => {
    const envelopes = Array.from({ length: 100 }, () => ring.seal(secret, 'credential:1'));
    expect(new Set(envelopes.map((envelope) => envelope.subarray(9, 21).toString('hex'))).size).toBe(100);
    expect(envelopes.some((envelope) => envelope.includes('horse'))).toBe(false);
  });

  it('[D45] opens in its own place only', () => {
    const envelope = ring.seal(secret, 'credential:1');
    for (const place of ['credential:2', 'credential:', 'signing_key:1', ''])
      expect(() => ring.open(envelope, place)).toThrow(SealError);
  });

  it('[D45] does not open with any bit changed, cut short or grown', () => {
    const envelope = ring.seal(secret, 'credential:1');
    for (let bit = 0; bit < envelope.length * 8; bit++) {
      const changed = Buffer.from(envelope);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => ring.open(changed, 'credential:1')).toThrow(SealError);
    }
    for (let length = 0; length < envelope.length; length++)
      expect(() => ring.open(envelope.subarray(0, length), 'credential:1')).toThrow(SealError);
    expect(() => ring.open(Buffer.concat([envelope, Buffer.of(0)]), 'credential:1')).toThrow(SealError);
  });

  it('[D45] opens under every key of the list, and says which are sealed under the first', () => {
    const old = ring.seal(secret, 'credential:1');
    const rotated = new KeyRing([second, first]);
    expect(rotated.open(old, 'credential:1')).toEqual(secret);
    expect(rotated.isSealedUnderFirstKey(old)).toBe(false);
    expect(rotated.isSealedUnderFirstKey(rotated.seal(secret, 'credential:1'))).toBe(true);
    expect(() => new KeyRing([second]).open(old, 'credential:1')).toThrow(/no key of SVC_ENCRYPTION_KEY/);
  });
});

describe('derived keys', () => {
  it('are one for each key, in order, and others for other purposes', () => {
    const [a, b] = new KeyRing([first, second]).deriveKeys('page cursor');
    const swapped = new KeyRing([second, first]).deriveKeys('page cursor');
    expect(swapped).toEqual([b, a]);
    expect(new KeyRing([first]).deriveKeys('another purpose')[0]).not.toEqual(a);
    expect(a).not.toEqual(first);
    expect(a).toHaveLength(32);
  });
});
