// Limits how many passwords are hashed at once, and lets a few attempts wait for their turn.
import { RETRY_AFTER_SECONDS } from '../../platform/http/temporarily-unavailable.exception.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';

/** Each hash takes 19 MiB, and a thread of the pool that file access and DNS use too. */
const MOST_AT_ONCE = 2;
/** How many more may wait for their turn. */
const MOST_WAITING = 20;
/**
 * The networks of an address by their number of groups, widest first: /16, /24 and the address itself for
 * IPv4; /32, /48 and /64 for IPv6.
 */
const NETWORK_GROUPS = [2, 3, 4];
const LONGEST_WAIT_MS = 5_000;

/** A waiting attempt. */
interface Waiting {
  /** Its networks, widest first. */
  readonly networks: readonly string[];
  readonly go: () => void;
  readonly refuse: () => void;
}

export class HashingTurns {
  private atWork = 0;
  private readonly waiting = new Set<Waiting>();

  /**
   * Queues work that hashes passwords: `MOST_AT_ONCE` run, `MOST_WAITING` wait, at most for `LONGEST_WAIT_MS`
   * (D107). The next one is the oldest of the network with the fewest waiting. Above the limit, the last one
   * of the network with the most is refused. A network with many addresses therefore takes no turns from
   * others.
   * @param client the client in the throttle's format
   * @throws TooManyRequestsError if its turn does not come
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

  /** Resolves when it may run. */
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
}

/**
 * The attempts of the network with the most, or the fewest, of them. Compares the widest networks first, and
 * narrower ones if these are equal.
 * @param extreme `Math.max` or `Math.min`
 * @returns the attempts in order; none only if there are none
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

/** @param client an IPv4 address, or the /64 of an IPv6 address */
function networksOf(client: string): string[] {
  const groups = client.split(/[.:]/);
  return NETWORK_GROUPS.map((count) => groups.slice(0, count).join(':'));
}
