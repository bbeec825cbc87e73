// Limits how long a request waits, on the monotonic clock.
import { DatabaseWaitError } from './database-error.js';

/** Less than two seconds, within which the request must be answered. */
export const DEFAULT_WAIT_MS = 1_800;
/** About as many as an instance can serve in that time: later ones would wait in vain. */
export const MAX_WAITING = 5_000;
/**
 * How long a request waits for its turn while the database answers others: on a slow machine, bursts are
 * answered late instead of refused (D102).
 */
export const LONGEST_TURN_MS = 5_000;
/** The server's time limit ends this much earlier, if possible: then the connection stays usable. */
const SERVER_LEAD_MS = 200;
const SHORTEST_STATEMENT_MS = 50;
/** A timer that is this late indicates a busy process, not a slow database. */
const LATE_MS = 250;

/** How long the server may run one statement, in milliseconds. */
export function statementMs(waitMs: number): number {
  return Math.max(SHORTEST_STATEMENT_MS, waitMs - SERVER_LEAD_MS);
}

/**
 * Calls `act` after a time in which this process could have read an answer. If the process itself stalled,
 * answers that have arrived can still be read first.
 * @returns a function that cancels the call
 */
export function afterWaiting(ms: number, act: () => void): () => void {
  const dueAtMs = performance.now() + ms;
  let timer = setTimeout(() => {
    const lateMs = performance.now() - dueAtMs;
    if (lateMs < LATE_MS) act();
    else timer = setTimeout(act, Math.min(lateMs, ms));
  }, ms);
  return () => clearTimeout(timer);
}

/**
 * Limits the wait for some work. The work itself goes on, and its outcome is ignored.
 * @param leftMs how long the request may still wait, in milliseconds
 * @throws DatabaseWaitError `time_limit`
 */
export function withinWait<T>(leftMs: number, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = afterWaiting(Math.max(0, leftMs), () => reject(new DatabaseWaitError('time_limit')));
    work().then(resolve, reject).finally(callOff);
  });
}

/** Limits a request's total wait for the database, over all its statements and the time between them. */
export class SharedWait {
  /** During a statement: when the wait ends, on the monotonic clock. */
  deadlineMs = Number.POSITIVE_INFINITY;
  private pausedAtMs: number | undefined;

  /** @param leftMs how long the request may still wait, in milliseconds */
  constructor(private leftMs: number) {}

  /** Runs work that uses the database. @throws DatabaseWaitError `time_limit`, or the work's own error */
  inTime<T>(work: () => Promise<T>): Promise<T> {
    this.deadlineMs = performance.now() + this.leftMs;
    return new Promise((resolve, reject) => {
      let callOff: () => void;
      const watch = (ms: number) => {
        callOff = afterWaiting(Math.max(0, ms), () => {
          const moreMs = this.untilDeadlineMs();
          // The deadline has moved during a pause.
          if (moreMs > 0) watch(moreMs);
          else reject(new DatabaseWaitError('time_limit'));
        });
      };
      watch(this.leftMs);
      work()
        .then(resolve, reject)
        .finally(() => {
          callOff();
          this.leftMs = this.untilDeadlineMs();
        });
    });
  }

  /** Stops the clock until `resume`: the request waits for its turn while the database answers others. */
  pause(): void {
    this.pausedAtMs = performance.now();
  }

  resume(): void {
    this.deadlineMs = performance.now() + this.untilDeadlineMs();
    this.pausedAtMs = undefined;
  }

  private untilDeadlineMs(): number {
    return this.deadlineMs - (this.pausedAtMs ?? performance.now());
  }
}
