// Hashes operators' passwords by argon2id, in other threads than requests.
import { HashingTurns } from './hashing-turns.js';
import { normalizePassword } from './password-rules.js';

/** OWASP's smallest for argon2id: 19 MiB, two passes, no parallelism. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** What every stored hash begins with. */
const HASH = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{16,64}\$[\w+/]{43}$/;
/** Matches no password. Checked if there is no account, so that the answer takes as long. */
const UNUSED_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$+VcJfxQc4oCmCFzzW0hUPQ$EbLN3q/U1cDGht0BQAeNv9Z9FKzqCAiH92QNlZYYMGk';

export class PasswordHasher {
  readonly turns = new HashingTurns();

  /** @param onHash called for each password that is hashed or checked; for a metric */
  constructor(private readonly onHash: () => void = () => undefined) {}

  /** A hash with its salt and its cost, in the form of the reference implementation (PHC). */
  async hash(password: string): Promise<string> {
    const { hash } = await import('@node-rs/argon2');
    this.onHash();
    return hash(normalizePassword(password), COST);
  }

  /**
   * Whether a password matches a hash. One hash of the same cost is always computed, even without an account or password (D105).
   * See operator-sign-in.service.ts for the answer, which is the same too.
   * @param stored undefined: none, which takes the same time
   */
  async isRight(password: string, stored: string | undefined): Promise<boolean> {
    const { verify } = await import('@node-rs/argon2');
    this.onHash();
    const isRight = await verify(stored ?? UNUSED_HASH, normalizePassword(password));
    return isRight && stored !== undefined;
  }
}

/** Whether a text is a hash of this form and cost: what a command hands over is stored as it is. */
export function isPasswordHash(text: string): boolean {
  return HASH.test(text);
}
