// Hashes and checks passwords of operators with argon2id, on threads beside the one that answers requests.
import { TooManyRequestsError } from '../../token-exchange/throttle/too-many-requests.error.js';
import { normalizePassword } from './password-rules.js';

/** OWASP's smallest for argon2id: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** What every stored hash begins with. */
const HASH = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{16,64}\$[\w+/]{43}$/;
/** Of a password that nobody has: checked where there is no account, so that this takes the same work. */
const NOBODYS_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$+VcJfxQc4oCmCFzzW0hUPQ$EbLN3q/U1cDGht0BQAeNv9Z9FKzqCAiH92QNlZYYMGk';
/** Each takes 19 MiB and a thread of the pool that files and DNS wait for, too. */
const MOST_AT_ONCE = 2;
/** Others wait for their turn, so that a few clients who try often keep nobody out. */
const MOST_WAITING = 20;
const LONGEST_WAIT_MS = 5_000;
const RETRY_SECONDS = 1;

/** Somebody who waits. */
interface Waiting {
  readonly go: () => void;
}

export class PasswordHasher {
  private atWork = 0;
  private readonly waiting = new Set<Waiting>();

  /** @param onHash called for each password that is hashed or checked; for a metric */
  constructor(private readonly onHash: () => void = () => undefined) {}

  /**
   * Does work that hashes passwords, when its turn has come: two at once, the others in the order in which they came.
   * Twenty wait, five seconds at most (D107).
   * @throws TooManyRequestsError where twenty wait already, or its turn does not come
   */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.atWork < MOST_AT_ONCE) this.atWork++;
    else await this.turn();
    try {
      return await work();
    } finally {
      this.handOn();
    }
  }

  /** Resolves once somebody has handed their place on. */
  private turn(): Promise<void> {
    if (this.waiting.size >= MOST_WAITING) throw new TooManyRequestsError(RETRY_SECONDS);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        go: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        this.waiting.delete(waiting);
        reject(new TooManyRequestsError(RETRY_SECONDS));
      }, LONGEST_WAIT_MS);
      this.waiting.add(waiting);
    });
  }

  private handOn(): void {
    const [first] = this.waiting;
    if (first === undefined) {
      this.atWork--;
      return;
    }
    this.waiting.delete(first);
    first.go();
  }

  /** A hash with its salt and its cost, in the form of the reference implementation (PHC). */
  async hash(password: string): Promise<string> {
    const { hash } = await import('@node-rs/argon2');
    this.onHash();
    return hash(normalizePassword(password), COST);
  }

  /**
   * Whether a password is that of a hash.
   * Whether or not there is an account, a password, a right: one hash is computed, of the same cost (D105). See operator-sign-in.service.ts for the answer, which is the same too.
   * @param stored undefined: there is none, which takes as long to find out
   */
  async isRight(password: string, stored: string | undefined): Promise<boolean> {
    const { verify } = await import('@node-rs/argon2');
    this.onHash();
    const isRight = await verify(stored ?? NOBODYS_HASH, normalizePassword(password));
    return isRight && stored !== undefined;
  }
}

/** Whether a text is a hash of this form and cost: what a command hands over is stored as it is. */
export function isPasswordHash(text: string): boolean {
  return HASH.test(text);
}
