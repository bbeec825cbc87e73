// Watches the session: when it is about to end, when it has ended, and when another frame has changed it.

/**
 * How long before the end it is announced. A short session is announced at half its time: a host page that renews at each
 * announcement would otherwise do nothing else.
 */
const NOTICE_MS = 60_000;

// Browsers keep channels apart by the site at the top, as they do with partitioned cookies: the same pages hear each
// other that share a session.
const changes = new BroadcastChannel('svc-session');

let timers = [];
let endsAtMs = 0;

/** @param {number} secondsLeft as the instance counts them: this machine's clock may be wrong */
export function watchSession(secondsLeft, { onExpiring, onEnded }) {
  stopWatching();
  const leftMs = secondsLeft * 1000;
  endsAtMs = Date.now() + leftMs;
  timers = [setTimeout(onExpiring, Math.max(leftMs / 2, leftMs - NOTICE_MS)), setTimeout(onEnded, leftMs)];
}

/** Whether the session that is watched has reached its end; if not, somebody has ended it. */
export function isTimeOver() {
  return Date.now() >= endsAtMs;
}

export function stopWatching() {
  timers.forEach(clearTimeout);
}

/** Tells the pages that share the session that it is a new one, or over. */
export function announceChange() {
  changes.postMessage('changed');
}

export function onChange(work) {
  changes.addEventListener('message', work);
}
