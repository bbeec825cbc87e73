// Watches the session: when it is about to end, when it has ended, and when another frame has changed it.
import { meetHostPage, tellHostPage } from './host-page.js';
import { NotSignedInError, readAccount, speakFor } from './instance.js';

/**
 * How long before the end it is announced. A short session is announced at half its time: a host page that renews at each
 * announcement would otherwise do nothing else.
 */
const NOTICE_MS = 60_000;
/** While the page is in view: an end that nothing here has caused is told within five seconds. */
const LOOK_MS = 4_000;

// Browsers keep channels apart by the site at the top, as they do with partitioned cookies: the same pages hear each
// other that share a session.
const changes = new BroadcastChannel('svc-session');

let timers = [];
let endsAtMs = 0;

/**
 * Takes note of the session that there is now: requests are made for its user, and the host page is told of it and of its end to
 * come.
 */
export function followSession({ user, hostOrigin, expiresAt, expiresInSeconds }, { isRenewal, onEnded }) {
  speakFor(user.id);
  meetHostPage(hostOrigin);
  tellHostPage('session-ready', { expiresAt, userId: user.id, isRenewal });
  watchSession(expiresInSeconds, {
    onExpiring: () => tellHostPage('session-expiring', { expiresAt }),
    onEnded,
  });
}

/** @param {number} secondsLeft as the instance counts them: this machine's clock may be wrong */
function watchSession(secondsLeft, { onExpiring, onEnded }) {
  stopWatching();
  const leftMs = secondsLeft * 1000;
  endsAtMs = Date.now() + leftMs;
  timers = [
    setTimeout(onExpiring, Math.max(leftMs / 2, leftMs - NOTICE_MS)),
    setTimeout(onEnded, leftMs),
    setInterval(() => lookQuietly(onEnded), LOOK_MS),
  ];
}

/** Without an answer nothing is known, and nothing is said. */
async function lookQuietly(onEnded) {
  if (document.hidden) return;
  const watched = timers;
  try {
    await readAccount(AbortSignal.timeout(LOOK_MS));
  } catch (error) {
    // The end may have been noticed in another way meanwhile.
    if (error instanceof NotSignedInError && watched === timers) onEnded();
  }
}

/** Whether the session that is watched has reached its end; if not, somebody has ended it. */
export function isTimeOver() {
  return Date.now() >= endsAtMs;
}

export function stopWatching() {
  timers.forEach(clearTimeout);
  timers = [];
}

/**
 * Tells the pages that share the session which one it is now, or that it is over.
 * @param {{ user: { id: string }, expiresAt: string } | null} account
 */
export function announceSession(account) {
  changes.postMessage(account === null ? null : sessionNameOf(account));
}

/** Calls `work` with what tells a session from others, or with null where it is over. */
export function onSessionChange(work) {
  changes.addEventListener('message', ({ data }) => work(data));
}

/** What tells a session from others, and is no secret. */
export function sessionNameOf({ user, expiresAt }) {
  return `${user.id} ${expiresAt}`;
}
