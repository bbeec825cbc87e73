// Ed25519 public keys for which anybody can sign, in every spelling, and signatures that need no private key.
import type { KeyObject } from 'node:crypto';
import { createHash, createPrivateKey, createPublicKey, randomBytes, verify } from 'node:crypto';

/** The y of the points whose order is 1, 2, 4 or 8, little-endian; the last two are 0 and 1 spelt with the prime added. */
const SMALL_ORDER_Y = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];

/** The 14 spellings of the eight points of small order: each y with either sign of x. */
export const SMALL_ORDER_KEYS = SMALL_ORDER_Y.flatMap(withEitherSign);

/** The 38 spellings of a y that is not below the prime: its lowest byte is 0xed to 0xff. */
export const NON_CANONICAL_KEYS = Array.from({ length: 19 }, (_, above) => 0xed + above).flatMap((lowest) =>
  withEitherSign(`${lowest.toString(16)}${'ff'.repeat(30)}7f`),
);

const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
/** One try in eight succeeds, so this many are enough. */
const TRIES = 1_000;

export function jwkOf(point: string): { kty: 'OKP'; crv: 'Ed25519'; x: string } {
  return { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(point, 'hex').toString('base64url') };
}

export function pemOf(point: string): string {
  const base64 = Buffer.concat([SPKI_PREFIX, Buffer.from(point, 'hex')]).toString('base64');
  return `-----BEGIN PUBLIC KEY-----\n${base64}\n-----END PUBLIC KEY-----\n`;
}

/**
 * A signature that node:crypto accepts for this key; undefined if none was found.
 * R is S·B for a random S, so it fits whenever the hash takes the key's point to the neutral element.
 */
export function forgeSignature(point: string, message: Buffer): Buffer | undefined {
  const key = createPublicKey({ key: jwkOf(point), format: 'jwk' });
  for (let tries = 0; tries < TRIES; tries++) {
    const signature = randomMultiple();
    if (verify(null, message, key, signature)) return signature;
  }
  return undefined;
}

/** A random S·B and its S: what a key pair is made of (RFC 8032 §5.1.5). */
function randomMultiple(): Buffer {
  const seed = randomBytes(32);
  const scalar = createHash('sha512').update(seed).digest().subarray(0, 32);
  scalar[0]! &= 0xf8;
  scalar[31] = (scalar[31]! & 0x7f) | 0x40;
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  return Buffer.concat([pointOf(createPublicKey(privateKey)), littleEndian(numberOf(scalar) % GROUP_ORDER)]);
}

function pointOf(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
}

function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

function littleEndian(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
}

function withEitherSign(y: string): string[] {
  const negative = Buffer.from(y, 'hex');
  negative[31]! |= 0x80;
  return [y, negative.toString('hex')];
}
