// Lets concurrent requests share one statement, while each gets an answer of its own.
import { isFaultOfOneRow, DatabaseWaitError } from './database-error.js';
import { DEFAULT_WAIT_MS, MOST_WAITING } from './wait-limit.js';

/** Answers the items of one statement, in their order. */
export type BatchRun<Item, Answer> = (items: readonly Item[]) => Promise<readonly Answer[]>;

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  /** On the monotonic clock. */
  readonly sinceMs: number;
}

/**
 * While fewer items wait one statement at a time is under way: two smaller ones cost more than a larger one. So many open
 * another connection, and so do fewer once the latest statement has taken so long that it may be hanging.
 */
const WORTH_A_STATEMENT = 32;
const HANGS_AFTER_MS = 100;
const MAX_STATEMENTS = 4;
/** Bounds the parameters of one statement, and the time for which it holds up the next. */
const MAX_ITEMS = 256;

/**
 * Gathers items while statements are under way, and sends what has gathered as soon as one is back. An item that
 * comes alone goes alone, a turn of the event loop later; a timer is only there for those behind a statement that hangs.
 */
export class Batch<Item, Answer> {
  private waiting: Waiting<Item, Answer>[] = [];
  private statementsInFlight = 0;
  private latestSentAtMs = 0;
  private watch: NodeJS.Timeout | undefined;

  /** @param waitMs after so many milliseconds an item is not sent any more: its request has had its answer */
  constructor(
    private readonly run: BatchRun<Item, Answer>,
    private readonly waitMs = DEFAULT_WAIT_MS,
  ) {}

  /** Resolves with the item's own answer. @throws what its statement throws, or DatabaseWaitError where it was never sent */
  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length >= MOST_WAITING) return reject(new DatabaseWaitError('pool_exhausted'));
      this.waiting.push({ item, resolve, reject, sinceMs: performance.now() });
      this.sendIfWorthIt();
    });
  }

  private sendIfWorthIt(): void {
    if (this.statementsInFlight === MAX_STATEMENTS) return;
    if (!this.isWorthAStatement()) return this.watchLatest();
    this.statementsInFlight += 1;
    this.latestSentAtMs = performance.now();
    this.gather();
  }

  /**
   * Items come along for as long as each turn of the event loop brings more: the requests that one statement has answered, and
   * those that a network wakes together, reach this place one by one.
   */
  private gather(before = 0): void {
    setImmediate(() => {
      const { length } = this.waiting;
      if (length > before && length < WORTH_A_STATEMENT) this.gather(length);
      else void this.send();
    });
  }

  private isWorthAStatement(): boolean {
    const { length } = this.waiting;
    if (this.statementsInFlight === 0 || length === 0) return length > 0;
    return length >= WORTH_A_STATEMENT || this.hangsInMs() <= 0;
  }

  /** Items that wait behind a statement that may be hanging are sent on another connection, even if no further item comes. */
  private watchLatest(): void {
    if (this.waiting.length === 0 || this.watch !== undefined) return;
    const look = () => {
      this.watch = undefined;
      this.sendIfWorthIt();
    };
    this.watch = setTimeout(look, Math.ceil(this.hangsInMs()));
    this.watch.unref();
  }

  private hangsInMs(): number {
    return this.latestSentAtMs + HANGS_AFTER_MS - performance.now();
  }

  private async send(): Promise<void> {
    this.giveUpOld();
    const taken = this.waiting.splice(0, MAX_ITEMS);
    if (taken.length > 0) await this.serve(taken);
    this.statementsInFlight -= 1;
    this.sendIfWorthIt();
  }

  /** They stand in the order of their arrival. */
  private giveUpOld(): void {
    const oldestMs = performance.now() - this.waitMs;
    const firstInTime = this.waiting.findIndex(({ sinceMs }) => sinceMs >= oldestMs);
    const old = this.waiting.splice(0, firstInTime === -1 ? this.waiting.length : firstInTime);
    for (const { reject } of old) reject(new DatabaseWaitError('time_limit'));
  }

  /**
   * One bad row fails its whole statement, which then leaves nothing behind: the halves are tried apart, until the row stands
   * alone and its neighbours have their answers. Other failures (a lost connection, a time limit) concern all items and may
   * follow the commit, so nothing is tried again.
   */
  private async serve(taken: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.run(taken.map(({ item }) => item));
      for (const [index, { resolve }] of taken.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      if (taken.length === 1 || !isFaultOfOneRow(error)) return taken.forEach(({ reject }) => reject(error));
      const middle = Math.ceil(taken.length / 2);
      await this.serve(taken.slice(0, middle));
      await this.serve(taken.slice(middle));
    }
  }
}
