// Operators' passwords: their rules, their hashes by argon2id in other threads than requests, and the codes to
// set them.
import { createHash, randomInt } from 'node:crypto';
import { WorkQueue } from '../../platform/http/throttle/work-queue.js';
import { isUnstorable } from '../../platform/json/strict-json.js';
import { composed, hasMoreCharacters } from '../../platform/text/characters.js';

const MIN_PASSWORD_CHARACTERS = 12;
const MAX_PASSWORD_CHARACTERS = 200;

/**
 * Two keyboards may produce different code points for the same password (RFC 8265 §4.2.2: NFC). Nothing else
 * is changed: case, spaces and width stay.
 */
export function normalizePassword(password: string): string {
  return composed(password);
}

/**
 * The rule that a new password breaks, in words that follow its name; undefined if it is allowed.
 * @rule D106 A password has 12 to 200 characters, counted as code points, and no other rule (NIST SP 800-63B
 * §5.1.1.2).
 */
export function faultOfPassword(password: string): string | undefined {
  const text = normalizePassword(password);
  if (isUnstorable(text)) return 'has characters that are no text';
  if (!hasMoreCharacters(text, MIN_PASSWORD_CHARACTERS - 1))
    return `must have at least ${MIN_PASSWORD_CHARACTERS} characters`;
  if (hasMoreCharacters(text, MAX_PASSWORD_CHARACTERS))
    return `must have at most ${MAX_PASSWORD_CHARACTERS} characters`;
  return undefined;
}

/** OWASP's minimum for argon2id: 19 MiB, two passes, no parallelism. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const HASH = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{16,64}\$[\w+/]{43}$/;
/** A hash that no password matches. It is checked if the account does not exist, so that the response takes the same time. */
const UNUSED_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$+VcJfxQc4oCmCFzzW0hUPQ$EbLN3q/U1cDGht0BQAeNv9Z9FKzqCAiH92QNlZYYMGk';

export class PasswordHasher {
  /**
   * For all work that hashes passwords. Each hash takes 19 MiB, and a thread of the pool that file access and DNS use too.
   */
  readonly queue = new WorkQueue({ atOnce: 2, waiting: 20, longestWaitMs: 5_000 });

  /** @param onHash called for each password that is hashed or checked, for a metric */
  constructor(private readonly onHash: () => void = () => undefined) {}

  /** A hash with its salt and cost, in the format of the reference implementation (PHC). */
  async hash(password: string): Promise<string> {
    const { hash } = await import('@node-rs/argon2');
    this.onHash();
    return hash(normalizePassword(password), COST);
  }

  /**
   * Whether a password matches a hash. Always computes one hash of the same cost, even without an account or
   * password (D105). See operator-sign-in.service.ts for the response, which is identical too.
   * @param stored undefined if there is none, which takes the same time
   */
  async isRight(password: string, stored: string | undefined): Promise<boolean> {
    const { verify } = await import('@node-rs/argon2');
    this.onHash();
    const isRight = await verify(stored ?? UNUSED_HASH, normalizePassword(password));
    return isRight && stored !== undefined;
  }
}

/** Whether a string is a hash of this format and cost: commands pass hashes that are stored unchanged. */
export function isPasswordHash(text: string): boolean {
  return HASH.test(text);
}

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
