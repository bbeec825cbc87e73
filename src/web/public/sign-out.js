// Runs in an unseen frame: ends the session when the page around asks for it whose login it came from.
import { readAccount, signOut, speakFor } from './instance.js';
import { announceSession } from './session.js';

/** @param {string | undefined} userId whom the page around knows to be signed in: nobody else's session is ended */
async function leave(origin, userId) {
  const { signal } = new AbortController();
  if (userId !== undefined) speakFor(userId);
  const { hostOrigin, user } = await readAccount(signal);
  if (hostOrigin !== origin) return;
  speakFor(user.id);
  await signOut(signal);
  // First: the other pages of the site, once they hear of it, find their session ended and call it revoked.
  parent.postMessage({ type: 'session-ended', reason: 'signed-out' }, origin);
  announceSession(null);
}

addEventListener('message', ({ origin, source, data }) => {
  // Where it does not work nothing is told: the page around waits for a limited time.
  if (source === parent && data?.type === 'sign-out') leave(origin, data.userId).catch(() => undefined);
});
