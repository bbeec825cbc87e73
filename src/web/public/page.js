// Runs the page: reads who is signed in and their workflows, answers the controls, and keeps the host page informed.
import { appearanceInAddress, wear } from './appearance.js';
import { followHeight, onHostPageRequest, tellHeight, tellHostPage, tellLoaded } from './host-page.js';
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
} from './instance.js';
import * as listView from './list-view.js';
import {
  announceSession,
  followSession,
  isTimeOver,
  onSessionChange,
  sessionNameOf,
  stopWatching,
} from './session.js';
import * as view from './view.js';
import { workflowNameOf } from './wording.js';
import { say } from './words.js';
import { EVERYTHING, WorkflowList, filtersOf, parametersOf } from './workflow-list.js';

const NOT_SIGNED_IN = { title: 'notSignedInTitle', text: 'openFromProduct' };
const SESSION_ENDED = { title: 'endedTitle', text: 'openFromProduct' };
const SIGNED_OUT = { title: 'signedOutTitle', text: 'openFromProduct' };
const ANOTHER_USER = { title: 'anotherTitle', text: 'anotherText', button: 'reload' };
const EMPTY = { title: 'emptyTitle', text: 'emptyText', button: 'lookAgain' };
const NONE_FOUND = { title: 'noneTitle', text: 'noneText', button: 'clearFilters' };
const MINUTE_MS = 60_000;
/** Between the last letter that is typed and the search. */
const TYPING_PAUSE_MS = 250;

const workflows = new WorkflowList();

let account = null;
/** What is under way, by what it is about: a new one of its kind takes the place of the one before. */
let underWay = {};
/** What the button of a notice does. */
let afterNotice = start;
/** The module that shows a workflow by itself. */
let detail;
/** The workflow that is shown by itself. */
let opened = null;
/** Where the list was left for it. */
let scrolledTo = 0;

function start() {
  return run(
    'visit',
    async (signal) => {
      listView.showListLoading();
      welcome(await readAccount(signal), { isRenewal: false });
      announceSession(account);
      tellLoaded();
      await readList(EVERYTHING);
      if (addressed() !== null) await followAddress();
    },
    showFailure('failureTitle', start),
  ).finally(tellLoaded);
}

/** Takes note of the session that there is now. */
function welcome(answer, { isRenewal }) {
  account = answer;
  view.showAccount(answer);
  followSession(answer, { isRenewal, onEnded: lookAgain });
  tellHeight();
}

/** When the session has changed, or should be over: what is shown stays, as long as it is the same visitor's. */
function lookAgain() {
  if (account === null) return start();
  return run(
    'look',
    async (signal) => welcome(await readAccount(signal), { isRenewal: true }),
    showFailure('failureTitle', start),
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
    (error) => {
      workflows.forget();
      listView.showNoList();
      failed(error);
    },
  );
}

function showList() {
  listView.showList(workflows, change);
  sayIfEmpty();
}

/** Of a search that has not come to its end nobody knows yet. */
function sayIfEmpty() {
  if (workflows.rows.length > 0 || workflows.isShort) return;
  afterNotice = workflows.isNarrowed ? showEverything : () => readList(EVERYTHING);
  view.showNotice(workflows.isNarrowed ? NONE_FOUND : EMPTY, workflows.isNarrowed ? ['workflows'] : []);
}

function showEverything() {
  const { sort } = workflows.asked;
  listView.showChoices({ ...EVERYTHING, sort });
  listView.searchField.focus();
  return readList({ ...EVERYTHING, sort });
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
    listView.showMoreProblem,
    listView.moreButton,
  );
}

/** The id of the workflow that the address of the page asks for, or null. */
function addressed() {
  return new URLSearchParams(location.hash.slice(1)).get('workflow');
}

/** Shows what the address of the page asks for: a workflow by itself, or the list. */
function followAddress() {
  if (account === null) return undefined;
  tellHostPage('navigated', { path: location.pathname + location.hash });
  const id = addressed();
  return id === null ? closeWorkflow() : openWorkflow(id);
}

function openWorkflow(id) {
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
    (error) => {
      if (error.status !== 404 && error.status !== 400)
        return showFailure('detailFailureTitle', () => openWorkflow(id))(error);
      afterNotice = leaveWorkflow;
      view.showNotice({ title: 'goneTitle', text: 'goneText', button: 'back' });
    },
  );
}

/** The list is as it was, with the focus on the workflow that was looked at. */
function closeWorkflow() {
  underWay.detail?.abort();
  const link = opened && listView.linkTo(opened.id);
  opened = null;
  if (view.isShown('workflows')) return;
  // There are none, or they could not be read.
  if (workflows.rows.length === 0) return readList(workflows.asked);
  view.showPanels(['workflows']);
  scrollTo(0, scrolledTo);
  if (link && document.hasFocus()) link.focus({ preventScroll: true });
}

/** A step of the history that a link of the list has added is taken back, so that the steps do not pile up. */
function leaveWorkflow() {
  if (history.state?.isFromList) return history.back();
  history.replaceState(null, '', location.pathname + location.search);
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
    ({ status }) => {
      const reasons = { 403: 'changeForbidden', 404: 'changeGone' };
      listView.showChangeProblem(button, reasons[status] ?? 'changeProblem');
    },
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
    () => {
      tellHostPage('sign-out-failed', {});
      if (!isAsked) view.showSignOutProblem();
    },
    view.signOutButton,
  );
}

/** The instance knows no session: it is over, or there was none. */
function noticeEnd({ reason }) {
  endVisit(account ? SESSION_ENDED : NOT_SIGNED_IN, isTimeOver() ? 'expired' : reason);
}

/** The session is another user's by now: this page neither shows nor does anything in that name. */
function noticeOther() {
  afterNotice = () => location.reload();
  endVisit(ANOTHER_USER, 'another-user');
}

/** Nothing of who was signed in stays in the document. */
function endVisit(notice, reason) {
  if (account !== null) tellHostPage('session-ended', { reason });
  for (const work of Object.values(underWay)) work.abort();
  underWay = {};
  stopWatching();
  account = null;
  opened = null;
  workflows.forget();
  view.showAccount(null);
  listView.showNoList();
  listView.showChoices(EVERYTHING);
  detail?.clearDetail();
  view.showNotice(notice);
}

/** @returns shows that something could not be loaded, with a button to try again */
function showFailure(title, again, besides) {
  return ({ requestId }) => {
    afterNotice = again;
    const text = requestId ? 'tryLater' : 'checkConnection';
    view.showNotice({ title, text, button: 'tryAgain', requestId }, besides);
  };
}

/**
 * Does what a control is for. What was under way of its kind is given up, so that a late answer cannot overwrite a newer
 * one.
 */
async function run(kind, work, fail, button) {
  if (view.isBusy(button)) return;
  underWay[kind]?.abort();
  const { signal } = (underWay[kind] = new AbortController());
  view.markBusy(button, true);
  try {
    await work(signal);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof NotSignedInError) noticeEnd(error);
    else if (error instanceof AnotherUserError) noticeOther();
    else fail(error);
  } finally {
    view.markBusy(button, false);
  }
}

let typing = 0;

/** Who searches, filters or sorts begins at the beginning. */
function ask() {
  clearTimeout(typing);
  const asked = {
    search: listView.searchField.value.trim(),
    state: listView.stateChoice.value,
    sort: listView.sortChoice.value,
  };
  return readList(asked);
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
onSessionChange((name) => {
  if (account === null || name !== sessionNameOf(account)) lookAgain();
});
addEventListener('hashchange', () => {
  if (addressed() !== null && opened === null && history.state === null)
    history.replaceState({ isFromList: true }, '');
  followAddress();
});
addEventListener('online', view.hideSignOutProblem);
// A page that the browser kept while another was shown may be about a session that has ended.
addEventListener('pageshow', ({ persisted }) => persisted && lookAgain());
followHeight({ isPublic: false });
setInterval(view.refreshTimes, MINUTE_MS);

wear(appearanceInAddress());
view.refreshWords();
start();
