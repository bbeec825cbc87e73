// What visitors do with their workflows: find them in the list, look at one by itself, switch them.
import { failing, showFailure } from './failures.js';
import { tellHostPage } from './host-page.js';
import * as instance from './instance.js';
import * as listView from './list-view.js';
import { giveUp, run } from './tasks.js';
import * as view from './view.js';
import { workflowNameOf } from './wording.js';
import { say } from './words.js';
import * as places from './workflow-list.js';

const { EVERYTHING, WorkflowList, fragmentOf, placeInAddress, replaceFragment } = places;
/** Between the last letter that is typed and the search. */
const TYPING_PAUSE_MS = 250;

const workflows = new WorkflowList();
const moreProblem = view.element('more-problem');

/** The module that shows a workflow by itself. */
let detail;
/** The workflow that is shown by itself. */
let opened = null;
/** Where the list was left for it. */
let scrolledTo = 0;
/** The search that begins after a pause. */
let typing = 0;

/** Shows what the address asks for first. @param {AbortSignal} signal of the visit */
export async function begin(signal) {
  await readList(placeInAddress().list);
  if (placeInAddress().workflow !== null && !signal.aborted) await followAddress();
}

/** Leaves nothing of any workflow. */
export function forget() {
  opened = null;
  workflows.forget();
  listView.showNoList();
  listView.showChoices(EVERYTHING);
  detail?.clearDetail();
}

export function refreshCount() {
  listView.showCount(workflows);
}

/** What is asked for is read from the beginning. */
function readList(asked) {
  const failed = showFailure('failureTitle', () => readList(asked), ['workflows']);
  return run(
    'list',
    async (signal) => {
      listView.showListLoading();
      const [page, total] = await Promise.all([
        instance.readWorkflows(signal, places.parametersOf(asked)),
        instance.countWorkflows(signal, places.filtersOf(asked)),
      ]);
      workflows.begin(asked, page, total);
      listView.showList(workflows, change);
      sayIfEmpty();
    },
    failing((error) => {
      workflows.forget();
      listView.showNoList();
      failed(error);
    }),
  );
}

function sayIfEmpty() {
  if (workflows.rows.length > 0 || placeInAddress().workflow !== null) return;
  if (workflows.isNarrowed) {
    const none = { title: 'noneTitle', text: 'noneText', button: 'clearFilters', act: showEverything };
    view.showNotice(none, ['workflows']);
  } else {
    const act = () => readList(EVERYTHING);
    view.showNotice({ title: 'emptyTitle', text: 'emptyText', button: 'lookAgain', act });
  }
}

function showEverything() {
  const asked = { ...EVERYTHING, sort: workflows.asked.sort };
  listView.showChoices(asked);
  listView.searchField.focus();
  return listOf(asked);
}

function loadMore() {
  // It would be more of the list before, in the place of the one that was asked for.
  if (listView.isListLoading()) return false;
  view.showProblem(moreProblem, null);
  return run(
    'list',
    async (signal) => {
      const asked = places.parametersOf(workflows.asked);
      const page = await instance.readWorkflows(signal, asked, workflows.nextCursor);
      listView.addRows(workflows, workflows.add(page), change);
      sayIfEmpty();
    },
    failing(() => view.showProblem(moreProblem, 'moreProblem')),
    listView.moreButton,
  );
}

/** Shows what the address of the page asks for: a workflow by itself, or the list. */
export function followAddress() {
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
      const answer = await instance.readWorkflow(signal, id);
      const surroundings = await instance.readProject(signal, answer.projectId);
      opened = workflows.update(answer) ?? answer;
      listView.refreshRow(opened);
      detail.showDetail(opened, surroundings, change);
    },
    failing((error) => {
      if (error.status !== 404 && error.status !== 400)
        return showFailure('detailFailureTitle', () => openWorkflow(id))(error);
      view.showNotice({ title: 'goneTitle', text: 'goneText', button: 'back', act: leaveWorkflow });
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

/** Notes whose page the new step of the history is, and whether a link of the list led to it. */
export function noteStep(user) {
  const isFromList = opened === null && placeInAddress().workflow !== null;
  if (history.state === null) history.replaceState({ user, isFromList }, '');
}

/** Activates or deactivates one workflow; other work goes on, and so may other changes. */
function change(workflow, button) {
  const problem = listView.problemBeside(button);
  view.showProblem(problem, null);
  return run(
    `change ${workflow.id}`,
    async (signal) => {
      const now = { active: !workflow.active, updatedAt: new Date().toISOString() };
      Object.assign(workflow, now, await instance.changeWorkflow(signal, workflow.id, now.active));
      workflows.update(workflow);
      if (workflows.fits(workflow)) listView.refreshRow(workflow);
      else takeOut(workflow);
      if (opened?.id === workflow.id) detail.refreshDetail(workflow);
      view.tellNews(say(workflow.active ? 'isActive' : 'isInactive', workflowNameOf(workflow)));
    },
    failing(({ status }) => {
      const reasons = { 403: 'changeForbidden', 404: 'changeGone' };
      view.showProblem(problem, reasons[status] ?? 'changeProblem');
    }),
    button,
  );
}

/** Takes a workflow out of a list that it does not fit any more. */
function takeOut({ id }) {
  workflows.remove(id);
  listView.removeRow(id, workflows);
  if (opened === null) sayIfEmpty();
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
  const search = listView.searchField.value.trim();
  return listOf({ search, state: listView.stateChoice.value, sort: listView.sortChoice.value });
}

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
listView.showChoices(placeInAddress().list);
