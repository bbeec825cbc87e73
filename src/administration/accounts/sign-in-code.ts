// The code by which a person sets a password that nobody else has seen.
import { createHash, randomInt } from 'node:crypto';

/** Without letters that are taken for others. */
const LETTERS = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUPS = 5;
const GROUP_LETTERS = 4;
export const CODE_LIFETIME_SECONDS = 900;

/** Twenty letters of thirty: 98 bits. */
export function newSignInCode(): string {
  const group = () =>
    Array.from({ length: GROUP_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

/** What is stored of it: nobody can go through that many codes. Case, spaces and hyphens do not count. */
export function hashOfCode(code: string): Buffer {
  const letters = code.toUpperCase().replaceAll(/[\s-]/g, '');
  return createHash('sha256').update(letters, 'utf8').digest();
}
