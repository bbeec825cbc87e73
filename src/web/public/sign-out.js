// Runs in an unseen frame: ends the session when the page around asks for it whose login it came from.
import { AnotherUserError, NotSignedInError, readAccount, signOut, speakFor } from './instance.js';
import { announceSession } from './session.js';

/**
 * @param {string | undefined} userId whom the page around knows to be signed in: nobody else's session is ended
 * @returns what the page around is told
 */
async function leave(origin, userId) {
  const { signal } = new AbortController();
  if (userId !== undefined) speakFor(userId);
  const { hostOrigin, user } = await readAccount(signal);
  if (hostOrigin !== origin) return { type: 'no-session' };
  speakFor(user.id);
  await signOut(signal);
  return { type: 'session-ended', reason: 'signed-out' };
}

function failure(error) {
  const isOver = error instanceof NotSignedInError || error instanceof AnotherUserError;
  return { type: isOver ? 'no-session' : 'sign-out-failed' };
}

addEventListener('message', async ({ origin, source, data }) => {
  if (source !== parent || data?.type !== 'sign-out' || origin === 'null') return;
  parent.postMessage({ type: 'signing-out' }, origin);
  const message = await leave(origin, data.userId).catch(failure);
  // First: the other pages of the site, once they hear of it, find their session ended and call it revoked.
  parent.postMessage(message, origin);
  if (message.reason === 'signed-out') announceSession(null);
});
