// Runs on pages of the instance that show nothing of the session, such as the page for addresses where nothing is: tells the host page of it.
import * as hostPage from './host-page.js';
import { AnotherUserError, NotSignedInError, readAccount } from './instance.js';
import * as session from './session.js';
import { run } from './tasks.js';

let account = null;

async function look() {
  const isOver = await run(
    'look',
    async (signal) => {
      account = await readAccount(signal);
      // The page that led here has told of the session; of another one since then the host page hears by this.
      session.followSession(account, { isRenewal: true, look });
    },
    (error) => {
      if (error instanceof AnotherUserError) noticeEnd('another-user', error.hostOrigin);
      else if (account === null) return;
      else if (error instanceof NotSignedInError) noticeEnd(session.reasonOf(error));
      else session.tellIfOver();
    },
  );
  if (isOver) hostPage.tellLoaded();
}

/** @param {string | null} [origin] as for `tellHostPage` */
function noticeEnd(reason, origin) {
  hostPage.tellHostPage('session-ended', { reason }, account === null ? origin : undefined);
  account = null;
  session.stopWatching();
}

session.takeUser();
for (const link of document.querySelectorAll('a[href="/"]')) link.href = session.onward('/');

// Without a page around it there is nobody to tell.
if (parent !== window) {
  session.onSessionChange(look);
  // A page that the browser kept while another was shown may be about a session that has ended.
  addEventListener('pageshow', ({ persisted }) => persisted && look());
  hostPage.onHostPageRequest('navigate', ({ path, look }) => location.assign(session.onward(path, look)));
  hostPage.followHeight({ isPublic: true });
  look();
}
