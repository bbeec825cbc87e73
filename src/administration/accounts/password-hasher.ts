// Hashes operators' passwords with argon2id, in other threads than requests.
import { WorkQueue } from '../../platform/http/throttle/work-queue.js';
import { normalizePassword } from './password-rules.js';

/** OWASP's minimum for argon2id: 19 MiB, two passes, no parallelism. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** The format of every stored hash. */
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
