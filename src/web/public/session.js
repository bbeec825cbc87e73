// Watches the session: whose it has to be, when it is about to end, when it has ended, and when another frame has changed it.
import { meetHostPage, tellHostPage } from './host-page.js';
import { AnotherUserError, NotSignedInError, readAccount, speakFor, spokenFor } from './instance.js';

/**
 * How long before the end it is announced. A short session is announced at half its time: a host page that renews at each
 * announcement would otherwise do nothing else.
 */
const NOTICE_MS = 60_000;
/** While the page is in view: an end that nothing here has caused is told within five seconds. */
const LOOK_MS = 4_000;
/** By this the fragment of an address names a user. */
const NAMED = 'user=';

// Browsers keep channels apart by the site at the top, as they do with partitioned cookies: the same pages hear each
// other that share a session.
const changes = new BroadcastChannel('svc-session');

let timers = [];
let lookNow = () => undefined;
/** By two clocks: one may be set, and the other may stand still while the machine sleeps. */
let end = { clockMs: 0, monotonicMs: 0 };

/**
 * Takes the user whom the login has named out of the address, before anybody else sees it.
 * @returns {string | null} the user's id; null where the login has named nobody
 */
export function takeUser() {
  const parts = location.hash.slice(1).split('&');
  const named = parts.findLast((part) => part.startsWith(NAMED));
  if (named === undefined) return history.state?.user ?? null;
  const user = new URLSearchParams(named).get('user');
  const hash = parts.filter((part) => !part.startsWith(NAMED)).join('&');
  history.replaceState(
    { ...history.state, user },
    '',
    location.pathname + location.search + (hash && `#${hash}`),
  );
  return user;
}

/** Where a path of this instance leads; anything else leads to `/`. */
export function addressOf(path) {
  const url = URL.canParse(path, location.origin)
    ? new URL(path, location.origin)
    : new URL('/', location.origin);
  const { href, hash, pathname } = url.origin === location.origin ? url : new URL('/', location.origin);
  return { href, hash, isHere: pathname === location.pathname };
}

/** Goes on to another page of this instance, which stays this user's. */
export function leaveFor(path) {
  location.assign(addressFor(spokenFor(), addressOf(path).href));
}

/** An address of this instance that says for whom it is to be opened. */
export function addressFor(user, href) {
  if (user === null) return href;
  return `${href}${href.includes('#') ? '&' : '#'}${NAMED}${encodeURIComponent(user)}`;
}

/**
 * Takes note of the session that there is now: requests are made for its user, and the host page is told of it and of its end to
 * come.
 */
export function followSession(account, { isRenewal, onChanged }) {
  const { user, hostOrigin, expiresAt, expiresInSeconds } = account;
  speakFor(user.id);
  meetHostPage(hostOrigin);
  tellHostPage('session-ready', { expiresAt, userId: user.id, isRenewal });
  stopWatching();
  // As the instance counts: this machine's clock may be wrong.
  const leftMs = expiresInSeconds * 1000;
  end = { clockMs: Date.now() + leftMs, monotonicMs: performance.now() + leftMs };
  const look = () => lookQuietly(account, onChanged);
  timers = [
    setTimeout(
      () => tellHostPage('session-expiring', { expiresAt }),
      Math.max(leftMs / 2, leftMs - NOTICE_MS),
    ),
    setTimeout(onChanged, leftMs),
    setInterval(look, LOOK_MS),
  ];
  lookNow = look;
}

/** Without an answer nothing is known, and nothing is said. */
async function lookQuietly(account, onChanged) {
  if (document.hidden) return;
  const watched = timers;
  let hasChanged;
  try {
    hasChanged = sessionNameOf(await readAccount(AbortSignal.timeout(LOOK_MS))) !== sessionNameOf(account);
  } catch (error) {
    hasChanged = error instanceof NotSignedInError || error instanceof AnotherUserError;
  }
  // It may have been noticed in another way meanwhile.
  if (hasChanged && watched === timers) onChanged();
}

/** Whether the session that is watched has reached its end; if not, somebody has ended it. */
export function isTimeOver() {
  return Date.now() >= end.clockMs || performance.now() >= end.monotonicMs;
}

export function stopWatching() {
  timers.forEach(clearTimeout);
  timers = [];
  lookNow = () => undefined;
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

// A machine that has slept, or was away from the network, looks at once.
document.addEventListener('visibilitychange', () => lookNow());
addEventListener('online', () => lookNow());
