// Runs the page: reads who is signed in and their workflows, answers the controls, and keeps the host page informed.
import { appearanceInAddress, wear } from './appearance.js';
import {
  askForLogin,
  canAskForLogin,
  followHeight,
  onHostPageGreeting,
  onHostPageRequest,
  tellHeight,
  tellHostPage,
  tellLoaded,
} from './host-page.js';
import {
  AnotherUserError,
  NotSignedInError,
  changeWorkflow,
  countWorkflows,
  readAccount,
  readProject,
  readWorkflow,
  readWorkflows,
  signOut,
  speakFor,
  spokenFor,
} from './instance.js';
import * as listView from './list-view.js';
import {
  addressOf,
  announceSession,
  followSession,
  isTimeOver,
  leaveFor,
  onSessionChange,
  sessionNameOf,
  stopWatching,
  takeUser,
} from './session.js';
import { giveUp, giveUpAll, run } from './tasks.js';
import * as view from './view.js';
import { workflowNameOf } from './wording.js';
import { say } from './words.js';
import {
  EVERYTHING,
  WorkflowList,
  filtersOf,
  fragmentOf,
  parametersOf,
  placeInAddress,
  replaceFragment,
} from './workflow-list.js';

const NOT_SIGNED_IN = { title: 'notSignedInTitle', text: 'openFromProduct' };
const SESSION_ENDED = { title: 'endedTitle', text: 'openFromProduct' };
const ENDED_BY_PROVIDER = { title: 'providerTitle', text: 'openFromProduct' };
const SIGNED_OUT = { title: 'signedOutTitle', text: 'openFromProduct' };
const ANOTHER_USER = { title: 'anotherTitle', text: 'anotherText' };
const EMPTY = { title: 'emptyTitle', text: 'emptyText', button: 'lookAgain' };
const NONE_FOUND = { title: 'noneTitle', text: 'noneText', button: 'clearFilters' };
const MINUTE_MS = 60_000;
/** Between the last letter that is typed and the search. */
const TYPING_PAUSE_MS = 250;

const workflows = new WorkflowList();

let account = null;
/** The notice of the end, while nobody is signed in here. */
let ended = null;
/** The latest try to find out who is signed in. */
let visits = 0;
/** What the button of a notice does. */
let afterNotice = start;
/** The module that shows a workflow by itself. */
let detail;
/** The workflow that is shown by itself. */
let opened = null;
/** Where the list was left for it. */
let scrolledTo = 0;
/** The search that begins after a pause. */
let typing = 0;
/** Whom the login has named: this page is nobody else's. */
const owner = takeUser();

async function start() {
  const visit = ++visits;
  await run(
    'visit',
    async (signal) => {
      if (ended === null) listView.showListLoading();
      welcome(await readAccount(signal), { isRenewal: false });
      announceSession(account);
      tellLoaded();
      await readList(placeInAddress().list);
      if (placeInAddress().workflow !== null) await followAddress();
    },
    failing(showFailure('failureTitle', start)),
  );
  // While another try has taken its place, nothing is known.
  if (visit === visits) tellLoaded();
}

/** Takes note of the session that there is now. */
function welcome(answer, { isRenewal }) {
  account = answer;
  ended = null;
  view.showAccount(answer);
  followSession(answer, { isRenewal, onChanged: lookAgain });
  tellHeight();
}

/** When the session has changed, or should be over: what is shown stays, as long as it is the same visitor's. */
function lookAgain() {
  if (account === null) return start();
  return run(
    'look',
    async (signal) => welcome(await readAccount(signal), { isRenewal: true }),
    // Without an answer what is shown stays, and the watch goes on asking.
    failing(() => isTimeOver() && tellHostPage('session-ended', { reason: 'expired' })),
  );
}

/** What is asked for is read from the beginning. */
function readList(asked) {
  const failed = showFailure('failureTitle', () => readList(asked), ['workflows']);
  return run(
    'list',
    async (signal) => {
      listView.showListLoading();
      const reading = [readWorkflows(signal, parametersOf(asked)), countWorkflows(signal, filtersOf(asked))];
      workflows.begin(asked, ...(await Promise.all(reading)));
      showList();
    },
    failing((error) => {
      workflows.forget();
      listView.showNoList();
      failed(error);
    }),
  );
}

function showList() {
  listView.showList(workflows, change);
  sayIfEmpty();
}

function sayIfEmpty() {
  if (workflows.rows.length > 0 || placeInAddress().workflow !== null) return;
  afterNotice = workflows.isNarrowed ? showEverything : () => readList(EVERYTHING);
  view.showNotice(workflows.isNarrowed ? NONE_FOUND : EMPTY, workflows.isNarrowed ? ['workflows'] : []);
}

function showEverything() {
  const { sort } = workflows.asked;
  listView.showChoices({ ...EVERYTHING, sort });
  listView.searchField.focus();
  return listOf({ ...EVERYTHING, sort });
}

function loadMore() {
  listView.hideMoreProblem();
  return run(
    'list',
    async (signal) => {
      const page = await readWorkflows(signal, parametersOf(workflows.asked), workflows.nextCursor);
      listView.addRows(workflows, workflows.add(page), change);
      sayIfEmpty();
    },
    failing(listView.showMoreProblem),
    listView.moreButton,
  );
}

/** Shows what the address of the page asks for: a workflow by itself, or the list. */
function followAddress() {
  if (account === null) return undefined;
  tellPlace();
  const { workflow } = placeInAddress();
  return workflow === null ? closeWorkflow() : openWorkflow(workflow);
}

/** The host page can have it shown again, after a reload for example. */
function tellPlace() {
  tellHostPage('navigated', { path: location.pathname + location.hash });
}

function openWorkflow(id) {
  // A search that was still typed would put the list in its place.
  clearTimeout(typing);
  if (opened === null) scrolledTo = scrollY;
  return run(
    'detail',
    async (signal) => {
      // Loaded when it is wanted first: most visits are over without it.
      detail ??= await import('./detail-view.js');
      if (signal.aborted) return;
      detail.showDetailLoading(workflows.get(id));
      const answer = await readWorkflow(signal, id);
      const surroundings = await readProject(signal, answer.projectId);
      opened = workflows.update(answer) ?? answer;
      listView.refreshRow(opened);
      detail.showDetail(opened, surroundings, change);
    },
    failing((error) => {
      if (error.status !== 404 && error.status !== 400)
        return showFailure('detailFailureTitle', () => openWorkflow(id))(error);
      afterNotice = leaveWorkflow;
      view.showNotice({ title: 'goneTitle', text: 'goneText', button: 'back' });
    }),
  );
}

/** The list is as it was, with the focus on the workflow that was looked at. */
function closeWorkflow() {
  giveUp('detail');
  const link = opened && listView.linkTo(opened.id);
  opened = null;
  const { list } = placeInAddress();
  const isOther = fragmentOf(null, list) !== fragmentOf(null, workflows.asked);
  if (isOther) listView.showChoices(list);
  // There are none, or they could not be read, or others are wanted.
  if (isOther || (workflows.rows.length === 0 && !view.isShown('workflows'))) return readList(list);
  if (view.isShown('workflows')) return;
  view.showPanels(['workflows']);
  scrollTo(0, scrolledTo);
  if (link && document.hasFocus()) link.focus({ preventScroll: true });
}

/** A step of the history that a link of the list has added is taken back, so that the steps do not pile up. */
function leaveWorkflow() {
  if (history.state?.isFromList) return history.back();
  replaceFragment(fragmentOf(null, placeInAddress().list));
  followAddress();
}

/** Activates or deactivates one workflow; other work goes on, and so may other changes. */
async function change(workflow, button) {
  if (view.isBusy(button)) return;
  listView.beginChange(button);
  await run(
    `change ${workflow.id}`,
    async (signal) => {
      const now = { active: !workflow.active, updatedAt: new Date().toISOString() };
      Object.assign(workflow, now, await changeWorkflow(signal, workflow.id, now.active));
      workflows.update(workflow);
      if (workflows.fits(workflow)) listView.refreshRow(workflow);
      else takeOut(workflow);
      if (opened?.id === workflow.id) detail.refreshDetail(workflow);
      view.tellNews(say(workflow.active ? 'isActive' : 'isInactive', workflowNameOf(workflow)));
    },
    failing(({ status }) => {
      const reasons = { 403: 'changeForbidden', 404: 'changeGone' };
      listView.showChangeProblem(button, reasons[status] ?? 'changeProblem');
    }),
  );
  view.markBusy(button, false);
}

/** Takes a workflow out of a list that it does not fit any more. */
function takeOut({ id }) {
  workflows.remove(id);
  listView.removeRow(id, workflows);
  if (opened === null) sayIfEmpty();
}

/** @param {boolean} isAsked by the host page, which hears how it ends */
function leave(isAsked) {
  view.hideSignOutProblem();
  return run(
    'visit',
    async (signal) => {
      await signOut(signal);
      announceSession(null);
      endVisit(SIGNED_OUT, 'signed-out');
    },
    failing(() => {
      tellHostPage('sign-out-failed', {});
      if (!isAsked) view.showSignOutProblem();
    }),
    view.signOutButton,
  );
}

/** The instance knows no session: it is over, or there was none. */
function noticeEnd({ reason }) {
  if (account === null) return endVisit(ended ?? NOT_SIGNED_IN);
  const isByProvider = reason === 'signed-out-by-provider';
  endVisit(
    isByProvider ? ENDED_BY_PROVIDER : SESSION_ENDED,
    isTimeOver() && !isByProvider ? 'expired' : reason,
  );
}

/** The session is another user's by now: this page neither shows nor does anything in that name. */
function noticeOther({ hostOrigin }) {
  // Before its first account this page knows no host page; the one that posted the other login may know.
  if (account === null && ended !== ANOTHER_USER)
    tellHostPage('session-ended', { reason: 'another-user' }, hostOrigin);
  endVisit(ANOTHER_USER, 'another-user');
}

/** Nothing of who was signed in stays in the document. */
function endVisit(notice, reason) {
  if (account !== null) tellHostPage('session-ended', { reason });
  giveUpAll();
  stopWatching();
  account = null;
  opened = null;
  workflows.forget();
  view.showAccount(null);
  listView.showNoList();
  listView.showChoices(EVERYTHING);
  detail?.clearDetail();
  ended = notice;
  showEnd();
}

/** With the one way on that there is from here. */
function showEnd() {
  if (ended === null) return;
  if (canAskForLogin()) {
    afterNotice = askForLogin;
    const { title, text } = ended;
    return view.showNotice({ title, button: 'goOn', ...(ended === ANOTHER_USER && { text }) });
  }
  // A page that no login has named a user for may be anybody's.
  const mayReload = ended === ANOTHER_USER && owner === null;
  afterNotice = () => location.reload();
  view.showNotice({ ...ended, ...(mayReload && { button: 'reload' }) });
}

/** @returns tells the end of the session from other failures, which `fail` is for */
function failing(fail) {
  return (error) => {
    if (error instanceof NotSignedInError) noticeEnd(error);
    else if (error instanceof AnotherUserError) noticeOther(error);
    else fail(error);
  };
}

/** @returns shows that something could not be loaded, with a button to try again */
function showFailure(title, again, besides) {
  return ({ requestId }) => {
    afterNotice = again;
    const text = requestId ? 'tryLater' : 'checkConnection';
    view.showNotice({ title, text, button: 'tryAgain', requestId }, besides);
  };
}

/** Shows another page as a link in this one would: the host page asks. */
function goTo(path) {
  const { hash, isHere } = addressOf(path);
  if (account === null || !isHere) return leaveFor(path);
  history.pushState({ user: owner }, '', location.pathname + location.search + hash);
  return followAddress();
}

/** Shows another list in the same step of the history. */
function listOf(asked) {
  replaceFragment(fragmentOf(null, asked));
  tellPlace();
  return readList(asked);
}

/** Who searches, filters or sorts begins at the beginning. */
function ask() {
  clearTimeout(typing);
  const asked = {
    search: listView.searchField.value.trim(),
    state: listView.stateChoice.value,
    sort: listView.sortChoice.value,
  };
  return listOf(asked);
}

function changeAppearance(appearance) {
  wear(appearance);
  view.refreshWords();
  if (account !== null) listView.showCount(workflows);
}

view.noticeButton.addEventListener('click', () => afterNotice());
view.signOutButton.addEventListener('click', () => leave(false));
view.backButton.addEventListener('click', leaveWorkflow);
listView.moreButton.addEventListener('click', loadMore);
listView.refreshButton.addEventListener('click', () => readList(workflows.asked));
listView.stateChoice.addEventListener('change', ask);
listView.sortChoice.addEventListener('change', ask);
listView.searchField.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(ask, TYPING_PAUSE_MS);
});
listView.filters.addEventListener('submit', (event) => {
  event.preventDefault();
  ask();
});
onHostPageRequest('sign-out', () => {
  // Without a session here another frame sees to it.
  if (account === null) return;
  tellHostPage('signing-out', {});
  leave(true);
});
onHostPageRequest('appearance', changeAppearance);
onHostPageRequest('navigate', ({ path }) => goTo(path));
onHostPageGreeting(showEnd);
onSessionChange((name) => {
  // To who was told of another user, that one is nothing new.
  if (ended === ANOTHER_USER && !name?.startsWith(`${spokenFor()} `)) return;
  if (account === null || name !== sessionNameOf(account)) lookAgain();
});
addEventListener('hashchange', () => {
  const isFromList = opened === null && placeInAddress().workflow !== null;
  if (history.state === null) history.replaceState({ user: owner, isFromList }, '');
  followAddress();
});
addEventListener('online', view.hideSignOutProblem);
// A page that the browser kept while another was shown may be about a session that has ended.
addEventListener('pageshow', ({ persisted }) => persisted && lookAgain());
followHeight({ isPublic: false });
setInterval(view.refreshTimes, MINUTE_MS);

wear(appearanceInAddress());
view.refreshWords();
speakFor(owner);
listView.showChoices(placeInAddress().list);
start();
