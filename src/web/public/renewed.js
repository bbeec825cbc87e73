// Runs where a login has led to: tells the host page and the other frames of the session, then goes on if it is to.
import { appearanceInAddress, wear } from './appearance.js';
import { meetHostPage, tellHostPage, tellLoaded } from './host-page.js';
import { AnotherUserError, readAccount } from './instance.js';
import { announceSession, onward, takeUser } from './session.js';
import { write } from './words.js';

const text = document.getElementById('text');

async function arrive() {
  const account = await readAccount(new AbortController().signal);
  const { hostOrigin, expiresAt, user } = account;
  meetHostPage(hostOrigin);
  tellHostPage('session-ready', { expiresAt, userId: user.id });
  announceSession(account);
  write(text, 'renewed');
  const { to, ...look } = Object.fromEntries(new URLSearchParams(location.search));
  if (to !== undefined) location.replace(onward(to, look));
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
