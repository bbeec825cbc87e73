// Talks with the host page, which holds this frame: with the origin that posted the login, and with nobody else.

let hostOrigin = null;

/** @param {string | null} origin the one that the session was opened from; null: nobody is talked with */
export function meetHostPage(origin) {
  hostOrigin = origin;
}

/** The browser delivers it only if the page around this one is of that origin. */
export function tellHostPage(type, detail) {
  if (hostOrigin !== null && parent !== window) parent.postMessage({ type, ...detail }, hostOrigin);
}

/** Calls `work` when the host page asks for something. */
export function onHostPageRequest(type, work) {
  addEventListener('message', ({ origin, source, data }) => {
    if (origin === hostOrigin && source === parent && data?.type === type) work();
  });
}
