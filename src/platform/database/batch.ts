// Lets concurrent requests share one statement. Each request gets its own answer.
import { DatabaseWaitError, isRowError } from './database-error.js';
import { DEFAULT_WAIT_MS, MAX_WAITING } from './wait-limit.js';

/** Runs one statement. Resolves with one answer per item, in the order of the items. */
export type BatchRun<Item, Answer> = (items: readonly Item[]) => Promise<readonly Answer[]>;

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  /** Arrival time on the monotonic clock, in milliseconds. */
  readonly sinceMs: number;
}

/**
 * Below this number of waiting items, only one statement runs at a time: two small statements cost more than
 * one large one. Another connection is used for more items, or if the latest statement has run for
 * HANGS_AFTER_MS.
 */
const WORTH_A_STATEMENT = 32;
const HANGS_AFTER_MS = 100;
const MAX_STATEMENTS = 4;
/** Bounds the parameters of one statement, and the time for which it delays the next. */
const MAX_ITEMS = 256;

/**
 * Collects items while a statement runs, and sends them as soon as it returns. An item that arrives alone is
 * sent alone, one turn of the event loop later. The timer only serves items behind a statement that hangs.
 */
export class Batch<Item, Answer> {
  private waiting: Waiting<Item, Answer>[] = [];
  private statementsInFlight = 0;
  private latestSentAtMs = 0;
  private watch: NodeJS.Timeout | undefined;

  /**
   * @param waitMs how long an item may wait, in milliseconds; older items are not sent, because their
   * requests were answered
   */
  constructor(
    private readonly run: BatchRun<Item, Answer>,
    private readonly waitMs = DEFAULT_WAIT_MS,
  ) {}

  /**
   * Resolves with the item's own answer. @throws the error of its statement, or DatabaseWaitError if it was
   * never sent
   */
  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length >= MAX_WAITING) return reject(new DatabaseWaitError('pool_exhausted'));
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
   * Waits as long as each turn of the event loop brings more items. Requests that one statement has answered,
   * or that one network event has woken, arrive here one by one.
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

  /**
   * Sends waiting items on another connection once the latest statement hangs, even if no further item comes.
   */
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

  /** Rejects the items that have waited too long. Items are in order of arrival. */
  private giveUpOld(): void {
    const oldestMs = performance.now() - this.waitMs;
    const firstInTime = this.waiting.findIndex(({ sinceMs }) => sinceMs >= oldestMs);
    const old = this.waiting.splice(0, firstInTime === -1 ? this.waiting.length : firstInTime);
    for (const { reject } of old) reject(new DatabaseWaitError('time_limit'));
  }

  /**
   * One bad row fails its whole statement, which then changes nothing. Each half is therefore tried again,
   * until the bad row is alone and its neighbours have their answers. Other failures (a lost connection, a
   * time limit) concern all items and may follow the commit, so nothing is tried again.
   */
  private async serve(taken: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.run(taken.map(({ item }) => item));
      for (const [index, { resolve }] of taken.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      if (taken.length === 1 || !isRowError(error)) return taken.forEach(({ reject }) => reject(error));
      const middle = Math.ceil(taken.length / 2);
      await this.serve(taken.slice(0, middle));
      await this.serve(taken.slice(middle));
    }
  }
}
