// Bounds what a request waits for, on the monotonic clock.
import { DatabaseWaitError } from './database-error.js';

/** Below two seconds, in which the answer has to be there. */
export const DEFAULT_WAIT_MS = 1_800;
/** About what an instance can serve in that time: later ones would wait in vain. */
export const MOST_WAITING = 5_000;
/** How long a request waits for its turn as long as the database answers others: a rush on a slow machine is answered, if late (D102). */
export const LONGEST_TURN_MS = 5_000;
/** The server gives up so much earlier where it can: then the connection serves on. */
const SERVER_LEAD_MS = 200;
const SHORTEST_STATEMENT_MS = 50;
/** A timer that is so late shows a busy process, not a slow database. */
const LATE_MS = 250;

/** For how long the server may be at one statement. */
export function statementMs(waitMs: number): number {
  return Math.max(SHORTEST_STATEMENT_MS, waitMs - SERVER_LEAD_MS);
}

/**
 * Calls `act` after a time in which this process could have had an answer: one that stood still itself gives what is there
 * already a chance to be read.
 * @returns what calls it off
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
 * Ends the wait for some work, not the work, whose later outcome is ignored.
 * @param leftMs of what the request may wait
 * @throws DatabaseWaitError `time_limit`
 */
export function withinWait<T>(leftMs: number, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = afterWaiting(Math.max(0, leftMs), () => reject(new DatabaseWaitError('time_limit')));
    work().then(resolve, reject).finally(callOff);
  });
}

/** Limits how long a request waits for the database in all, however often it asks and whatever it does in between. */
export class SharedWait {
  /** While it asks: when the database is no longer waited for, on the monotonic clock. */
  deadlineMs = Number.POSITIVE_INFINITY;
  private pausedAtMs: number | undefined;

  /** @param leftMs of what the request may wait */
  constructor(private leftMs: number) {}

  /** Runs what asks the database. @throws DatabaseWaitError `time_limit`, or what the work throws */
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

  /** Time does not count until `resume`: the request waits for its turn, and the database answers others. */
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
