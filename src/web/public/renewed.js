// Runs where a login has led to: tells the host page and the other frames of the session, then goes on if it is to.
import { appearanceInAddress, wear } from './appearance.js';
import { meetHostPage, tellHostPage, tellLoaded } from './host-page.js';
import { AnotherUserError, readAccount, spokenFor } from './instance.js';
import { addressFor, addressOf, announceSession, takeUser } from './session.js';
import { write } from './words.js';

const text = document.getElementById('text');

/** What programs ask for: it takes no parameters but its own. */
const FOR_PROGRAMS = /^\/(?:api|rest|\.well-known|healthz|metrics)(?:\/|$)/;
const REFERENCE = '/api/v1/docs';

/** The page of this instance that the visitor is on the way to, if there is one; it is to look like this one. */
function destination() {
  const { to, ...appearance } = Object.fromEntries(new URLSearchParams(location.search));
  if (to === undefined) return undefined;
  const url = addressOf(to);
  const isForPrograms = FOR_PROGRAMS.test(url.pathname);
  if (isForPrograms && url.pathname !== REFERENCE) return url.href;
  if (!isForPrograms)
    for (const [name, value] of Object.entries(appearance)) url.searchParams.set(name, value);
  return addressFor(spokenFor(), url.href);
}

async function arrive() {
  const account = await readAccount(new AbortController().signal);
  const { hostOrigin, expiresAt, user } = account;
  meetHostPage(hostOrigin);
  tellHostPage('session-ready', { expiresAt, userId: user.id });
  announceSession(account);
  write(text, 'renewed');
  const url = destination();
  if (url !== undefined) location.replace(url);
}

wear(appearanceInAddress());
takeUser();
try {
  await arrive();
} catch (error) {
  write(text, 'notSignedInTitle');
  if (error instanceof AnotherUserError)
    tellHostPage('session-ended', { reason: 'another-user' }, error.hostOrigin);
}
tellLoaded();
