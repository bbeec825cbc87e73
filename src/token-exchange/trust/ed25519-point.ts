// Checks the point of an Ed25519 public key: whether it is written in its only form, and whether it hides anything.
import type { KeyObject } from 'node:crypto';

/** The prime of the field that the coordinates are of (RFC 8032 §5.1). */
const PRIME = 2n ** 255n - 19n;
/** The d of the curve -x² + y² = 1 + d·x²·y². */
const D = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;
/** The last byte of a key holds the sign of x in its highest bit; the other 255 bits are y, little-endian. */
const SIGN_BIT = 1n << 255n;

/**
 * Whether only the holder of the private key can sign for this key. node:crypto takes two sorts of points for which that does not
 * hold, with either sign of x:
 *
 * - Eight points have an order of 8 or less. A signature is right when S·B = R + k·A. With such an A the last term has
 *   eight values at most, one of which is nothing, so anyone finds an S and an R that fit, and no private key is needed. RFC 8725
 *   §3.4 demands a check for such inputs.
 * - A y of the prime or more is another spelling of a smaller one, which RFC 8032 §5.1.3 refuses to decode.
 */
export function isSoundEd25519Key(key: KeyObject): boolean {
  const y = yOf(key);
  return y < PRIME && !isOfSmallOrder(y);
}

function yOf(key: KeyObject): bigint {
  const bytes = Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
  return BigInt(`0x${bytes.reverse().toString('hex')}`) % SIGN_BIT;
}

/** Whether eight times the point is the neutral element, which alone has y = 1. */
function isOfSmallOrder(y: bigint): boolean {
  const [numerator, denominator] = doubled(doubled(doubled([y, 1n])));
  return numerator === denominator;
}

/** A y as a fraction: nothing needs to be divided then. */
type Fraction = readonly [numerator: bigint, denominator: bigint];

/**
 * The y of twice a point: (y² + x²) / (1 - d·x²·y²), which is of use without x, since x² = (y² - 1) / (d·y² + 1).
 * No denominator is ever 0, because d is no square and -1 is one.
 */
function doubled([numerator, denominator]: Fraction): Fraction {
  const [yy, zz] = [modulo(numerator ** 2n), modulo(denominator ** 2n)];
  const [above, below] = [yy - zz, D * yy + zz];
  return [modulo(yy * below + zz * above), modulo(zz * below - D * yy * above)];
}

function modulo(value: bigint): bigint {
  return ((value % PRIME) + PRIME) % PRIME;
}
