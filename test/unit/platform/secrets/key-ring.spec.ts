// How secrets are sealed for storage and opened again.
import { KeyRing, SealError } from '../../../../src/platform/secrets/key-ring.js';

const [first, second] = [1, 2].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer];
const ring = new KeyRing([first]);
const secret = Buffer.from('the secret');
const place = 'signing_key:k1';

describe('a sealed secret', () => {
  it.each([Buffer.alloc(0), secret, Buffer.alloc(100_000, 7)])('[D45] can be opened again', (plain) => {
    expect(ring.unseal(ring.seal(plain, place), place)).toEqual(plain);
  });

  it('[D45] differs each time because the IV is fresh', () => {
    const envelopes = Array.from({ length: 200 }, () => ring.seal(secret, place));
    expect(new Set(envelopes.map((envelope) => envelope.toString('hex'))).size).toBe(200);
    expect(new Set(envelopes.map((envelope) => envelope.subarray(9, 21).toString('hex'))).size).toBe(200);
  });

  it.each(['signing_key:k2', 'signing_key:k', 'signing_key:k11', ''])(
    '[D45] cannot be opened in another context: %j',
    (other) => expect(() => ring.unseal(ring.seal(secret, place), other)).toThrow(SealError),
  );

  it('[D45] cannot be opened if any bit is changed', () => {
    const envelope = ring.seal(secret, place);
    for (let bit = 0; bit < envelope.length * 8; bit++) {
      const changed = Buffer.from(envelope);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => ring.unseal(changed, place)).toThrow(SealError);
    }
  });

  it('[D45] cannot be opened if it is truncated or extended', () => {
    const envelope = ring.seal(secret, place);
    for (let length = 0; length < envelope.length; length++) {
      expect(() => ring.unseal(envelope.subarray(0, length), place)).toThrow(SealError);
    }
    expect(() => ring.unseal(Buffer.concat([envelope, Buffer.alloc(1)]), place)).toThrow(SealError);
  });
});

describe('a list of keys', () => {
  it('[D45] seals with the first key', () => {
    const envelope = new KeyRing([second, first]).seal(secret, place);
    expect(new KeyRing([second]).unseal(envelope, place)).toEqual(secret);
    expect(() => new KeyRing([first]).unseal(envelope, place)).toThrow(SealError);
  });

  it('[D45] names a missing key by its id, not by its bytes', () => {
    const message = (key: Buffer) => {
      try {
        return new KeyRing([key], 'SVC_ENCRYPTION_KEY').unseal(ring.seal(secret, place), place).toString();
      } catch (error) {
        return (error as SealError).message;
      }
    };
    expect(message(second)).toMatch(/^no key of SVC_ENCRYPTION_KEY has the id [0-9a-f]{16}$/);
    expect(message(second)).not.toContain(first.toString('hex').slice(0, 16));
  });

  it('[D45] is never empty', () => expect(() => new KeyRing([])).toThrow(RangeError));
});

describe('a key ring of several keys', () => {
  it('[D45] reports which envelopes are sealed with the first key', () => {
    const old = new KeyRing([first]).seal(Buffer.from('secret'), 'credential:1');
    const rotated = new KeyRing([second, first]);
    expect(rotated.isSealedUnderFirstKey(old)).toBe(false);
    expect(rotated.isSealedUnderFirstKey(rotated.seal(Buffer.from('secret'), 'credential:1'))).toBe(true);
  });

  it('derives one key per configured key and purpose, in order', () => {
    const [a, b] = new KeyRing([first, second]).deriveKeys('a purpose');
    expect(new KeyRing([second, first]).deriveKeys('a purpose')).toEqual([b, a]);
    expect(new KeyRing([first]).deriveKeys('another purpose')[0]).not.toEqual(a);
    expect(a).not.toEqual(first);
    expect(a).toHaveLength(32);
  });
});
