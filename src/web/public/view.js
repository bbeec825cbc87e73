// Writes to the document, and nothing else does: one panel at a time, all text as text.
import {
  adviceFor,
  changeInWords,
  countInWords,
  dateInWords,
  initialsOf,
  nameOf,
  roleInWords,
  timeAgo,
} from './wording.js';

const element = (id) => document.getElementById(id);
const panels = ['loading', 'failure', 'signed-out', 'empty', 'workflows'].map(element);
const problems = ['sign-out-problem', 'more-problem', 'change-problem'].map(element);

export const retryButton = element('retry');
export const moreButton = element('more');
export const signOutButton = element('sign-out');

export function showLoading() {
  showPanel('loading', 'Loading workflows …', { hide: element('account') });
}

/** Shows who is signed in. */
export function showAccount({ user }) {
  element('initials').textContent = initialsOf(user);
  element('person').textContent = nameOf(user);
  element('role').textContent = roleInWords(user.role);
  element('account').hidden = false;
}

/**
 * Shows all workflows that were read so far.
 * @param {boolean} hasMore whether the instance has others
 * @param change called with a workflow and the button by which its state is to be changed
 */
export function showWorkflows(workflows, hasMore, change) {
  const list = element('list');
  list.replaceChildren(...workflows.map((workflow) => rowOf(workflow, change)));
  list.classList.toggle('editable', workflows.some(mayBeChanged));
  element('count').textContent = countInWords(workflows.length, hasMore);
  refreshTimes();
  moreButton.hidden = false;
  const hide = hasMore ? undefined : moreButton;
  if (workflows.length === 0) showPanel('empty', 'No workflows yet', { hide });
  else showPanel('workflows', element('count').textContent, { hide });
}

/** @param {string | null | undefined} requestId what support can look for */
export function showFailure(requestId) {
  const reference = element('reference');
  element('advice').textContent = adviceFor(Boolean(requestId));
  reference.hidden = !requestId;
  reference.querySelector('code').textContent = requestId ?? '';
  showPanel('failure', 'The workflows could not be loaded.');
}

/** Shows that nobody is signed in; nothing of who was stays in the document. */
export function showSignedOut(reason) {
  for (const id of ['initials', 'person', 'role', 'list']) element(id).replaceChildren();
  element('signed-out').querySelector('h2').textContent = reason;
  showPanel('signed-out', reason, { hide: element('account') });
}

export function showSignOutProblem() {
  showProblem('sign-out-problem', 'Signing out did not work. Please try again.');
}

/** Shows the new state of one workflow; its row, and the focus on its button, stay. */
export function showChange(workflow, button) {
  fillRow(button.closest('li'), workflow);
  refreshTimes();
  element('news').textContent = `${workflow.name} is ${workflow.active ? 'active' : 'inactive'} now.`;
}

export function showChangeProblem({ name }) {
  showProblem('change-problem', `${name} could not be changed. Please try again.`);
}

export function showMoreProblem() {
  showProblem('more-problem', 'More workflows could not be loaded. Please try again.');
}

/** Marks the button, if there is one, whose work is under way; it keeps the focus, which a disabled button would lose. */
export function markBusy(button, busy) {
  if (button !== undefined) button.ariaDisabled = String(busy);
}

export function isBusy(button) {
  return button?.ariaDisabled === 'true';
}

export function hideProblems() {
  for (const problem of problems) problem.hidden = true;
}

/** Says again how long ago the changes were. */
export function refreshTimes() {
  const now = new Date();
  for (const time of document.querySelectorAll('time')) {
    time.textContent = timeAgo(new Date(time.dateTime), now);
  }
}

/**
 * Shows one panel and hides all others, and `hide`. If the focused control disappears the title takes the focus, so that
 * the keyboard's place is kept; nothing else moves it, since it may be the host page's.
 */
function showPanel(id, news, { hide } = {}) {
  const focused = document.activeElement;
  if (hide !== undefined) hide.hidden = true;
  for (const panel of panels) panel.hidden = panel.id !== id;
  element('news').textContent = news;
  if (document.hasFocus() && focused?.closest('[hidden]')) element('title').focus({ preventScroll: true });
}

function showProblem(id, text) {
  element(id).hidden = false;
  element(id).textContent = text;
}

function rowOf(workflow, change) {
  const row = element('row').content.cloneNode(true).querySelector('li');
  const button = row.querySelector('.change');
  button.hidden = !mayBeChanged(workflow);
  button.addEventListener('click', () => change(workflow, button));
  fillRow(row, workflow);
  return row;
}

/** The instance says so of each workflow; one that says nothing changes nothing. */
function mayBeChanged({ canEdit }) {
  return canEdit === true;
}

function fillRow(row, workflow) {
  const { name, active, updatedAt } = workflow;
  const state = row.querySelector('.state');
  const time = row.querySelector('time');
  const button = row.querySelector('.change');
  const { verb, label } = changeInWords(workflow);
  row.querySelector('.name').textContent = name;
  state.textContent = active ? 'Active' : 'Inactive';
  state.classList.toggle('active', active);
  time.dateTime = updatedAt;
  time.title = dateInWords(new Date(updatedAt));
  button.textContent = verb;
  button.ariaLabel = label;
}
