// The server's state of a request: since when it waits for the database, so that all its statements share one limit, and its
// place among those in progress.

const BEGAN = Symbol('when a request began to wait');

interface Waiting {
  /** On the monotonic clock. */
  [BEGAN]?: number;
}

/** To be called by its first guard, when its body is there. Called again it does nothing. */
export function beginWait(request: object): void {
  (request as Waiting)[BEGAN] ??= performance.now();
}

/** Milliseconds since then; undefined for a request that has not begun to wait. */
export function waitedMs(request: object): number | undefined {
  const began = (request as Waiting)[BEGAN];
  return began === undefined ? undefined : performance.now() - began;
}

/** Where the server keeps what gives the place to the next. */
export const GIVE_UP_PLACE = Symbol('gives up the place of a request');

/** For a request that will do little but wait: others are processed meanwhile. It still counts as in progress. */
export function giveUpPlace(request: object): void {
  (request as { [GIVE_UP_PLACE]?: () => void })[GIVE_UP_PLACE]?.();
}
