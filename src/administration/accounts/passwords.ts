// Passwords of operators: their rules, the codes to set them, and their hashes by argon2id, on threads beside the one that answers requests.
import { createHash, randomInt } from 'node:crypto';
import { RETRY_AFTER_SECONDS } from '../../platform/http/temporarily-unavailable.exception.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';
import { isUnstorable } from '../../platform/json/strict-json.js';
import { composed, hasMoreCharacters } from '../../platform/text/characters.js';

const MIN_PASSWORD_CHARACTERS = 12;
const MAX_PASSWORD_CHARACTERS = 200;

/**
 * The same password may be typed by one keyboard as one code point and by another as two (RFC 8265 §4.2.2: NFC). Nothing else is
 * changed: case, spaces and width stay.
 */
export function normalizePassword(password: string): string {
  return composed(password);
}

/**
 * The rule that a new password breaks, in words that follow its name; undefined for one that may be set.
 * @rule D106 A password has 12 to 200 characters, counted as code points, and no other rule (NIST SP 800-63B §5.1.1.2).
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

/** The stored hash of it: there are too many codes to try. Case, spaces and hyphens do not count. */
export function hashOfCode(code: string): Buffer {
  const letters = code.toUpperCase().replaceAll(/[\s-]/g, '');
  return createHash('sha256').update(letters, 'utf8').digest();
}

/** OWASP's smallest for argon2id: 19 MiB, two passes, no parallelism. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** What every stored hash begins with. */
const HASH = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{16,64}\$[\w+/]{43}$/;
/** A hash of no password: checked if there is no account, so that this takes the same work. */
const UNUSED_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$+VcJfxQc4oCmCFzzW0hUPQ$EbLN3q/U1cDGht0BQAeNv9Z9FKzqCAiH92QNlZYYMGk';
/** Each takes 19 MiB and a thread of the pool that files and DNS wait for, too. */
const MOST_AT_ONCE = 2;
/** Others wait for their turn. */
const MOST_WAITING = 20;
/** Of addresses of either version, the widest first: /16, /24 and the address of IPv4, /32, /48 and /64 of IPv6. */
const NETWORK_GROUPS = [2, 3, 4];
const LONGEST_WAIT_MS = 5_000;

/** An attempt that waits. */
interface Waiting {
  /** Where it was made, the widest first. */
  readonly networks: readonly string[];
  readonly go: () => void;
  readonly refuse: () => void;
}

export class PasswordHasher {
  private atWork = 0;
  private readonly waiting = new Set<Waiting>();

  /** @param onHash called for each password that is hashed or checked; for a metric */
  constructor(private readonly onHash: () => void = () => undefined) {}

  /**
   * Queues work that hashes passwords: `MOST_AT_ONCE` run, `MOST_WAITING` wait, for `LONGEST_WAIT_MS` at most (D107). The oldest
   * of the network with the fewest waiting is next; above the limit, the last of the network with the most is refused. So a
   * network with many addresses takes no places of others.
   * @param client as the throttle counts it
   * @throws TooManyRequestsError where its turn does not come
   */
  async inTurn<T>(client: string, work: () => Promise<T>): Promise<T> {
    if (this.atWork < MOST_AT_ONCE) this.atWork++;
    else await this.turn(client);
    try {
      return await work();
    } finally {
      this.handOn();
    }
  }

  /** Resolves once a place is free. */
  private turn(client: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        networks: networksOf(client),
        go: () => {
          clearTimeout(timer);
          resolve();
        },
        refuse: () => {
          clearTimeout(timer);
          this.waiting.delete(waiting);
          reject(new TooManyRequestsError(RETRY_AFTER_SECONDS.queue));
        },
      };
      const timer = setTimeout(() => waiting.refuse(), LONGEST_WAIT_MS);
      this.waiting.add(waiting);
      if (this.waiting.size > MOST_WAITING) byCrowd(this.waiting, Math.max).at(-1)?.refuse();
    });
  }

  private handOn(): void {
    const [first] = byCrowd(this.waiting, Math.min);
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

/**
 * The attempts of the network that has most of them, or fewest: by the widest networks, where these are equal by the next, and so on.
 * @param extreme `Math.max` or `Math.min`
 * @returns in their order; none only where there are none
 */
function byCrowd(all: Iterable<Waiting>, extreme: (...counts: number[]) => number): readonly Waiting[] {
  let chosen = [...all];
  for (const width of NETWORK_GROUPS.keys()) {
    const counts = new Map<string, number>();
    for (const { networks } of chosen) {
      const network = networks[width] ?? '';
      counts.set(network, (counts.get(network) ?? 0) + 1);
    }
    const count = extreme(...counts.values());
    chosen = chosen.filter(({ networks }) => counts.get(networks[width] ?? '') === count);
  }
  return chosen;
}

/** @param client an IPv4 address, or the /64 of an IPv6 one */
function networksOf(client: string): string[] {
  const groups = client.split(/[.:]/);
  return NETWORK_GROUPS.map((count) => groups.slice(0, count).join(':'));
}

/** Whether a text is a hash of this form and cost: what a command hands over is stored as it is. */
export function isPasswordHash(text: string): boolean {
  return HASH.test(text);
}
