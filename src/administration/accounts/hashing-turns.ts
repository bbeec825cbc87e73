// Lets few passwords be hashed at once, and lets a few attempts wait for their turn.
import { RETRY_AFTER_SECONDS } from '../../platform/http/temporarily-unavailable.exception.js';
import { TooManyRequestsError } from '../../platform/http/throttle/rate-limit.js';

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

export class HashingTurns {
  private atWork = 0;
  private readonly waiting = new Set<Waiting>();

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
