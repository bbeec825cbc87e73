// Runs on pages of the instance that show nothing of the session, as that of the API's description: tells the host page of it.
import { followHeight, onHostPageRequest, tellHeight, tellHostPage, tellLoaded } from './host-page.js';
import { AnotherUserError, NotSignedInError, readAccount, speakFor, spokenFor } from './instance.js';
import {
  addressFor,
  followSession,
  isTimeOver,
  leaveFor,
  onSessionChange,
  sessionNameOf,
  stopWatching,
  takeUser,
} from './session.js';

let account = null;
let asking = new AbortController();

/** A late answer about a session that another has taken the place of since says nothing any more. */
async function look() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  try {
    const answer = await readAccount(signal);
    if (signal.aborted) return;
    account = answer;
    // The page that led here has told of the session; of another one since then the host page hears by this.
    followSession(account, { isRenewal: true, onChanged: look });
    tellHeight();
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof AnotherUserError) noticeEnd('another-user', error.hostOrigin);
    else if (account !== null && isTimeOver()) noticeEnd('expired');
    else if (account !== null && error instanceof NotSignedInError) noticeEnd(error.reason);
  }
}

/** @param {string | null} [origin] as for `tellHostPage` */
function noticeEnd(reason, origin) {
  tellHostPage('session-ended', { reason }, account === null ? origin : undefined);
  account = null;
  stopWatching();
}

speakFor(takeUser());
for (const link of document.querySelectorAll('a[href="/"]')) link.href = addressFor(spokenFor(), '/');

// Without a page around it there is nobody to tell.
if (parent !== window) {
  onSessionChange((name) => {
    if (account === null || name !== sessionNameOf(account)) look();
  });
  // A page that the browser kept while another was shown may be about a session that has ended.
  addEventListener('pageshow', ({ persisted }) => persisted && look());
  onHostPageRequest('navigate', ({ path }) => leaveFor(path));
  followHeight({ isPublic: true });
  look().finally(tellLoaded);
}
