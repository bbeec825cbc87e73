// Watches the session: whose it has to be, when it is about to end, when it has ended, and when another frame has changed it.
import { meetHostPage, tellHeight, tellHostPage } from './host-page.js';
import { speakFor, spokenFor } from './instance.js';

/** How long before its end a session is announced to end; a short one at half its time, or hosts would do nothing but renew. */
const NOTICE_MS = 60_000;
/** While the page is in view: an end that nothing here has caused is told within five seconds. */
const LOOK_MS = 4_000;
/** What programs ask for: it takes no parameters but its own. */
const FOR_PROGRAMS = /^\/(?:api|rest|\.well-known|healthz|metrics)(?:\/|$)/;
/** By this the fragment of an address names a user. */
const NAMED = 'user=';

// Browsers keep channels apart by the site at the top, as they do with partitioned cookies: the same pages hear each
// other that share a session.
const changes = new BroadcastChannel('svc-session');

/** The name of the session that is watched, and what looks after it. */
let watched = null;
let lookNow = () => undefined;
let timers = [];
/** By two clocks: one may be set, and the other may stand still while the machine sleeps. */
let end = { clockMs: 0, monotonicMs: 0, isTold: false };

/**
 * Takes the user whom the login has named out of the address, before anybody else sees it: requests are made for that user.
 * @returns {string | null} the user's id; null where the login has named nobody
 */
export function takeUser() {
  const { pathname, search, hash } = location;
  const parts = hash.slice(1).split('&');
  const named = parts.findLast((part) => part.startsWith(NAMED));
  const user = named === undefined ? (history.state?.user ?? null) : new URLSearchParams(named).get('user');
  const others = parts.filter((part) => !part.startsWith(NAMED)).join('&');
  if (named !== undefined)
    history.replaceState({ ...history.state, user }, '', pathname + search + (others && `#${others}`));
  speakFor(user);
  return user;
}

/** Where a path of this instance leads; anything else leads to `/`. @returns {URL} */
export function addressOf(path) {
  const home = new URL('/', location.origin);
  const url = URL.canParse(path, home) ? new URL(path, home) : home;
  // Not by its origin alone: a `blob:` address has that of the page which made it.
  return url.href.startsWith(home.href) ? url : home;
}

/**
 * The address of another page of this instance, which says for whom it is to be opened, and how that page is to look.
 * @param {object} [look] that of this page, unless another is given
 */
export function onward(path, look = Object.fromEntries(new URLSearchParams(location.search))) {
  const url = addressOf(path);
  if (FOR_PROGRAMS.test(url.pathname)) return url.href;
  for (const [name, value] of Object.entries(look)) if (value) url.searchParams.set(name, value);
  if (spokenFor() === null) return url.href;
  return `${url.href}${url.hash ? '&' : '#'}${NAMED}${encodeURIComponent(spokenFor())}`;
}

/**
 * Takes note of the session that there is now: requests are made for its user, and the host page is told of it and of its end to
 * come. Does nothing while it is the one that is watched already.
 * @param {{ isRenewal: boolean, look: () => void }} how `look` finds out which session there is
 */
export function followSession(account, { isRenewal, look }) {
  const { user, hostOrigin, expiresAt, expiresInSeconds } = account;
  if (watched === nameOf(account)) return;
  stopWatching();
  watched = nameOf(account);
  speakFor(user.id);
  meetHostPage(hostOrigin);
  tellHostPage('session-ready', { expiresAt, userId: user.id, isRenewal });
  tellHeight();
  // As the instance counts: this machine's clock may be wrong.
  const leftMs = expiresInSeconds * 1000;
  end = { clockMs: Date.now() + leftMs, monotonicMs: performance.now() + leftMs, isTold: false };
  lookNow = () => document.hidden || look();
  const noticeMs = Math.max(leftMs / 2, leftMs - NOTICE_MS);
  timers = [
    setTimeout(() => tellHostPage('session-expiring', { expiresAt }), noticeMs),
    setTimeout(look, leftMs),
    setInterval(lookNow, LOOK_MS),
  ];
}

/** Whether the session that is watched has reached its end; if not, somebody has ended it. */
function isTimeOver() {
  return Date.now() >= end.clockMs || performance.now() >= end.monotonicMs;
}

/** Without an answer: tells the host page once that the time is over. */
export function tellIfOver() {
  if (end.isTold || !isTimeOver()) return;
  end.isTold = true;
  tellHostPage('session-ended', { reason: 'expired' });
}

/** Why the session that was watched has ended, as the host page hears it. @param {NotSignedInError} error */
export function reasonOf({ reason }) {
  return reason === 'revoked' && isTimeOver() ? 'expired' : reason;
}

export function stopWatching() {
  timers.forEach(clearTimeout);
  lookNow = () => undefined;
  watched = null;
}

/** Tells the pages that share the session which one it is now; null: it is over. */
export function announceSession(account) {
  changes.postMessage(account && nameOf(account));
}

/** Calls `work` when there is another session than the one that is watched, with its name, or with null where it is over. */
export function onSessionChange(work) {
  changes.addEventListener('message', ({ data }) => data !== watched && work(data));
}

/** What tells a session from others, and is no secret. */
function nameOf({ user, expiresAt }) {
  return `${user.id} ${expiresAt}`;
}

// A machine that has slept, or was away from the network, looks at once.
document.addEventListener('visibilitychange', () => lookNow());
addEventListener('online', () => lookNow());
