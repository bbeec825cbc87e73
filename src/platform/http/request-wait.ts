// Since when a request waits for the database, so that all that it asks shares one limit.

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
