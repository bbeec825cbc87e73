// The codes with which operators set a password.
import { createHash, randomInt } from 'node:crypto';

/** Without letters that look like others. */
const LETTERS = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUPS = 5;
const GROUP_LETTERS = 4;
export const CODE_LIFETIME_SECONDS = 900;

/** Twenty of thirty letters: 98 bits. */
export function newSignInCode(): string {
  const group = () =>
    Array.from({ length: GROUP_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

/** The stored hash of a code: there are too many codes to try them all. Ignores case, spaces and hyphens. */
export function hashOfCode(code: string): Buffer {
  const letters = code.toUpperCase().replaceAll(/[\s-]/g, '');
  return createHash('sha256').update(letters, 'utf8').digest();
}
