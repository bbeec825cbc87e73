// The place of a request among those that are processed at once.

/** Where the server keeps what gives the place to the next. */
export const GIVE_UP_PLACE = Symbol('gives up the place of a request');

/** For a request that will do little but wait: others are processed meanwhile. It still counts as in progress. */
export function giveUpPlace(request: object): void {
  (request as { [GIVE_UP_PLACE]?: () => void })[GIVE_UP_PLACE]?.();
}
