// Talks with the page that holds this frame: with the origin that posted the login, and with nobody else.

let hostOrigin = null;

/** @param {string | null} origin the one that the session was opened from; null: nobody is talked with */
export function meetHost(origin) {
  hostOrigin = origin;
}

/** The browser delivers it only if the page around this one is of the host's origin. */
export function tellHost(type, detail) {
  if (hostOrigin !== null && parent !== window) parent.postMessage({ type, ...detail }, hostOrigin);
}

/** Calls `work` when the host asks for something. */
export function onHostRequest(type, work) {
  addEventListener('message', ({ origin, source, data }) => {
    if (origin === hostOrigin && source === parent && data?.type === type) work();
  });
}
