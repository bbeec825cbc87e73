// Runs the page: who is signed in, from the first answer to the end, and what the host page asks for.
import { appearanceInAddress, wear } from './appearance.js';
import { failing, onEnd, showFailure } from './failures.js';
import * as hostPage from './host-page.js';
import { AnotherUserError, readAccount, signOut, spokenFor } from './instance.js';
import { showListLoading } from './list-view.js';
import * as session from './session.js';
import { giveUpAll, run } from './tasks.js';
import * as view from './view.js';
import * as workflows from './workflows.js';

const ANOTHER_USER = 'anotherTitle';
const MINUTE_MS = 60_000;

const signOutProblem = view.element('sign-out-problem');
/** Whom the login has named: this page is nobody else's. */
const owner = session.takeUser();

let account = null;
/** The title of the notice of the end, while nobody is signed in here. */
let ended = null;
/** Of the sign-out that has no answer yet. */
let leaving = null;

async function start() {
  const isOver = await run(
    'visit',
    async (signal) => {
      if (ended === null) showListLoading();
      welcome(await readAccount(signal), { isRenewal: false });
      session.announceSession(account);
      hostPage.tellLoaded();
      await workflows.begin(signal);
    },
    failing(showFailure('failureTitle', start)),
  );
  if (isOver) hostPage.tellLoaded();
}

/** Takes note of the session that there is now. */
function welcome(answer, { isRenewal }) {
  account = answer;
  ended = null;
  view.showAccount(answer);
  session.followSession(answer, { isRenewal, look: lookAgain });
}

/** When the session has changed, or should be over: what is shown stays, as long as it is the same visitor's. */
function lookAgain() {
  if (account === null) return start();
  return run(
    'look',
    async (signal) => welcome(await readAccount(signal), { isRenewal: true }),
    // Without an answer what is shown stays, and the watch goes on asking.
    failing(session.tellIfOver),
  );
}

/** @param {boolean} isAsked by the host page, which hears how it ends */
function leave(isAsked) {
  view.showProblem(signOutProblem, null);
  return run(
    'visit',
    async (signal) => {
      leaving = signal;
      await signOut(signal).finally(() => {
        if (leaving === signal) leaving = null;
      });
      session.announceSession(null);
      endVisit('signedOutTitle', 'signed-out');
    },
    failing(() => {
      hostPage.tellHostPage('sign-out-failed', {});
      if (!isAsked) view.showProblem(signOutProblem, 'signOutProblem');
    }),
    view.signOutButton,
  );
}

/** The instance knows no session, because it is over or there was none, or knows that of another user by now. */
function noticeEnd(error) {
  if (error instanceof AnotherUserError) {
    // Before its first account this page knows no host page; the one that posted the other login may know.
    if (account === null && ended !== ANOTHER_USER)
      hostPage.tellHostPage('session-ended', { reason: 'another-user' }, error.hostOrigin);
    return endVisit(ANOTHER_USER, 'another-user');
  }
  if (account === null) return endVisit(ended ?? 'notSignedInTitle');
  // It is this page that has ended it, and is about to hear so.
  if (leaving !== null) return;
  const reason = session.reasonOf(error);
  endVisit(reason === 'signed-out-by-provider' ? 'providerTitle' : 'endedTitle', reason);
}

/** Nothing of who was signed in stays in the document. */
function endVisit(title, reason) {
  if (account !== null) hostPage.tellHostPage('session-ended', { reason });
  giveUpAll();
  session.stopWatching();
  account = null;
  view.showAccount(null);
  workflows.forget();
  ended = title;
  showEnd();
}

/** With the one way on that there is from here. */
function showEnd() {
  if (ended === null) return;
  const isOther = ended === ANOTHER_USER;
  const [title, text] = [ended, isOther ? 'anotherText' : 'openFromProduct'];
  if (hostPage.canAskForLogin()) {
    const act = hostPage.askForLogin;
    return view.showNotice({ title, ...(isOther && { text }), button: 'goOn', act });
  }
  // A page that no login has named a user for may be anybody's.
  const button = isOther && owner === null ? 'reload' : undefined;
  view.showNotice({ title, text, button, act: () => location.reload() });
}

/** Shows another page as a link in this one would: the host page asks. */
function goTo({ path, look }) {
  const url = session.addressOf(path);
  if (account === null || url.pathname !== location.pathname)
    return location.assign(session.onward(path, look));
  history.pushState({ user: owner }, '', location.pathname + location.search + url.hash);
  return workflows.followAddress();
}

onEnd(noticeEnd);
view.signOutButton.addEventListener('click', () => leave(false));
hostPage.onHostPageRequest('sign-out', () => {
  // Without a session here another frame sees to it.
  if (account === null) return;
  hostPage.tellHostPage('signing-out', {});
  leave(true);
});
hostPage.onHostPageRequest('appearance', (appearance) => {
  wear(appearance);
  view.refreshWords();
  if (account !== null) workflows.refreshCount();
});
hostPage.onHostPageRequest('navigate', goTo);
hostPage.onHostPageGreeting(showEnd);
session.onSessionChange((name) => {
  // To who was told of another user, that one is nothing new.
  if (ended !== ANOTHER_USER || name?.startsWith(`${spokenFor()} `)) lookAgain();
});
addEventListener('hashchange', () => {
  workflows.noteStep(owner);
  if (account !== null) workflows.followAddress();
});
addEventListener('online', () => {
  view.showProblem(signOutProblem, null);
  view.tryAgain();
});
// A page that the browser kept while another was shown may be about a session that has ended.
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  hostPage.tellHeight();
  lookAgain();
});
hostPage.followHeight({ isPublic: false });
setInterval(view.refreshTimes, MINUTE_MS);

wear(appearanceInAddress());
view.refreshWords();
start();
