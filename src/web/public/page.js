// Runs the page: reads who is signed in and their workflows, and answers the buttons.
import { NotSignedInError, readAccount, readWorkflows, signOut } from './instance.js';
import * as view from './view.js';

const NOT_SIGNED_IN = 'You are not signed in.';
const SESSION_ENDED = 'Your session has ended.';
const SIGNED_OUT = 'You have signed out.';
const MINUTE_MS = 60_000;

const byName = new Intl.Collator('en', { numeric: true });

let wasSignedIn = false;
let workflows = [];
let nextCursor = null;
let underWay = new AbortController();

async function open(signal) {
  view.showLoading();
  workflows = [];
  const account = readAccount(signal).then((answer) => {
    wasSignedIn = true;
    view.showAccount(answer);
  });
  const [firstPage] = await Promise.all([readWorkflows(signal), account]);
  add(firstPage);
}

async function loadMore(signal) {
  add(await readWorkflows(signal, nextCursor));
}

/** The list is in the order of names as a whole, since the instance's pages are in none that people know. */
function add(page) {
  nextCursor = page.nextCursor;
  workflows = [...workflows, ...page.data].sort((one, other) => byName.compare(one.name, other.name));
  view.showWorkflows(workflows, nextCursor !== null);
}

async function leave(signal) {
  await signOut(signal);
  endVisit(SIGNED_OUT);
}

function endVisit(reason) {
  wasSignedIn = false;
  workflows = [];
  view.showSignedOut(reason);
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
    if (error instanceof NotSignedInError) endVisit(wasSignedIn ? SESSION_ENDED : NOT_SIGNED_IN);
    else showFailure(error.requestId);
  } finally {
    view.markBusy(button, false);
  }
}

const start = () => run(open, view.showFailure, view.retryButton);

view.retryButton.addEventListener('click', start);
view.moreButton.addEventListener('click', () => run(loadMore, view.showMoreProblem, view.moreButton));
view.signOutButton.addEventListener('click', () => run(leave, view.showSignOutProblem, view.signOutButton));
// A page that the browser kept while another was shown may be about a session that has ended.
addEventListener('pageshow', ({ persisted }) => persisted && start());
setInterval(view.refreshTimes, MINUTE_MS);
start();
