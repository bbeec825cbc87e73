// Runs the page: reads who is signed in and their workflows, answers the buttons, and keeps the host page informed.
import { meetHostPage, onHostPageRequest, tellHostPage } from './host-page.js';
import { NotSignedInError, changeWorkflow, readAccount, readWorkflows, signOut } from './instance.js';
import { announceChange, isTimeOver, onChange, stopWatching, watchSession } from './session.js';
import * as view from './view.js';

const NOT_SIGNED_IN = 'You are not signed in.';
const SESSION_ENDED = 'Your session has ended.';
const SIGNED_OUT = 'You have signed out.';
const MINUTE_MS = 60_000;

const byName = new Intl.Collator('en', { numeric: true });

let account = null;
/** Whose workflows are shown. */
let listedFor = null;
let workflows = [];
let nextCursor = null;
let underWay = new AbortController();

async function open(signal) {
  view.showLoading();
  forgetList();
  const [firstPage] = await Promise.all([readWorkflows(signal), readAccount(signal).then(welcome)]);
  add(firstPage);
}

/** Takes note of the session that there is now. */
function welcome(answer) {
  account = answer;
  const { hostOrigin, expiresAt, expiresInSeconds } = answer;
  view.showAccount(answer);
  meetHostPage(hostOrigin);
  tellHostPage('session-ready', { expiresAt });
  const onExpiring = () => tellHostPage('session-expiring', { expiresAt });
  watchSession(expiresInSeconds, { onExpiring, onEnded: lookAgain });
}

/** When the session has changed, or should be over: what is shown stays, as long as it is the same visitor's. */
function lookAgain() {
  run(async (signal) => {
    const answer = await readAccount(signal);
    if (answer.user.id !== listedFor) return open(signal);
    welcome(answer);
  }, view.showFailure);
}

async function loadMore(signal) {
  add(await readWorkflows(signal, nextCursor));
}

/** The list is in the order of names as a whole, since the instance's pages are in none that people know. */
function add(page) {
  listedFor = account.user.id;
  nextCursor = page.nextCursor;
  workflows = [...workflows, ...page.data].sort((one, other) => byName.compare(one.name, other.name));
  view.showWorkflows(workflows, nextCursor !== null, change);
}

/** Activates or deactivates one workflow; other work goes on, and so may other changes. */
async function change(workflow, button) {
  if (view.isBusy(button)) return;
  const { signal } = underWay;
  view.hideProblems();
  view.markBusy(button, true);
  try {
    const now = { active: !workflow.active, updatedAt: new Date().toISOString() };
    Object.assign(workflow, now, await changeWorkflow(signal, workflow.id, now.active));
    view.showChange(workflow, button);
  } catch (error) {
    if (error instanceof NotSignedInError) noticeEnd();
    else if (!signal.aborted) view.showChangeProblem(workflow);
  } finally {
    view.markBusy(button, false);
  }
}

async function leave(signal) {
  await signOut(signal);
  announceChange();
  endVisit(SIGNED_OUT, 'signed-out');
}

/** The instance knows no session: it is over, or there was none. */
function noticeEnd() {
  endVisit(account ? SESSION_ENDED : NOT_SIGNED_IN, isTimeOver() ? 'expired' : 'revoked');
}

function endVisit(text, reason) {
  if (account !== null) tellHostPage('session-ended', { reason });
  stopWatching();
  account = null;
  forgetList();
  view.showSignedOut(text);
}

function forgetList() {
  listedFor = null;
  workflows = [];
}

/** Does what a button is for. What was under way is given up, so that a late answer cannot overwrite a newer one. */
async function run(work, showFailure, button) {
  if (view.isBusy(button)) return;
  underWay.abort();
  underWay = new AbortController();
  const { signal } = underWay;
  view.hideProblems();
  view.markBusy(button, true);
  try {
    await work(signal);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof NotSignedInError) noticeEnd();
    else showFailure(error.requestId);
  } finally {
    view.markBusy(button, false);
  }
}

const start = () => run(open, view.showFailure, view.retryButton);
const goOut = () => run(leave, view.showSignOutProblem, view.signOutButton);

view.retryButton.addEventListener('click', start);
view.moreButton.addEventListener('click', () => run(loadMore, view.showMoreProblem, view.moreButton));
view.signOutButton.addEventListener('click', goOut);
onHostPageRequest('sign-out', goOut);
onChange(lookAgain);
// A page that the browser kept while another was shown may be about a session that has ended.
addEventListener('pageshow', ({ persisted }) => persisted && start());
setInterval(view.refreshTimes, MINUTE_MS);
start();
