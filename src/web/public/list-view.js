// Writes the list of workflows: rows, their states, counts, and what stands in their place.
import { element, keepFocus, refreshTimes, showPanels, tellNews } from './view.js';
import { numberInWords, workflowNameOf } from './wording.js';
import { say, write, writeAll } from './words.js';
import { fragmentOf } from './workflow-list.js';

export const searchField = element('search');
export const stateChoice = element('state');
export const sortChoice = element('sort');
export const filters = element('filters');
export const moreButton = element('more');
export const refreshButton = element('refresh');

const list = element('list');
const skeleton = element('skeleton');
const rest = element('rest');

/** Shows the shape of what is to come, or, where there are rows already, that they are out of date. */
export function showListLoading() {
  tellNews(say('loading'));
  list.ariaBusy = 'true';
  skeleton.hidden = !list.hidden;
  showPanels(['workflows']);
}

/** Whether the rows that are shown are about to be replaced. */
export function isListLoading() {
  return list.ariaBusy === 'true';
}

/**
 * Shows the rows of a list from its beginning.
 * @param change called with a workflow and its switch
 */
export function showList(workflows, change) {
  keepFocus(() => {
    list.replaceChildren(...workflows.rows.map((workflow) => rowOf(workflow, workflows.asked, change)));
    settle(workflows);
  }, searchField);
  tellNews(element('count').textContent);
}

/** Adds rows below those that are there; the first of them takes the focus of a button that has nothing left to do. */
export function addRows(workflows, { added, known }, change) {
  const rows = added.map((workflow) => rowOf(workflow, workflows.asked, change));
  for (const workflow of known) refreshRow(workflow);
  keepFocus(
    () => {
      list.append(...rows);
      settle(workflows);
    },
    rows[0]?.querySelector('.name') ?? searchField,
  );
  tellNews(`${say('shown', numberInWords(workflows.rows.length))}. ${element('count').textContent}`);
}

/** What is not known: neither rows nor how many. */
export function showNoList() {
  list.replaceChildren();
  list.hidden = true;
  list.ariaBusy = 'false';
  skeleton.hidden = true;
  rest.hidden = true;
  element('count').textContent = '';
}

/** Shows a workflow as it is now; its row, and the focus in it, stay. */
export function refreshRow(workflow) {
  const row = rowFor(workflow.id);
  if (row !== undefined) fillRow(row, workflow);
}

/** Takes the row of a workflow away; the next one takes the focus that was in it. */
export function removeRow(id, workflows) {
  const row = rowFor(id);
  const next = row?.nextElementSibling ?? row?.previousElementSibling;
  keepFocus(
    () => {
      row?.remove();
      settle(workflows);
    },
    next?.querySelector('.name') ?? searchField,
  );
}

/** The link in the row of a workflow, if it is listed. */
export function linkTo(id) {
  return rowFor(id)?.querySelector('.name');
}

export function showChoices({ search, state, sort }) {
  searchField.value = search;
  stateChoice.value = state;
  sortChoice.value = sort;
}

export function showCount({ total: { count, hasMore }, isNarrowed }) {
  const name = isNarrowed ? 'found' : 'count';
  write(element('count'), hasMore ? `${name}Over` : name, numberInWords(count));
}

/** Puts the state of a workflow in its place: with a switch for those who may change it. */
export function showState(place, workflow, change) {
  if (place.firstChild === null) {
    place.append(element('state-control').content.cloneNode(true));
    place
      .querySelector('.switch')
      .addEventListener('click', (event) => change(workflow, event.currentTarget));
  }
  const [state, button] = [place.querySelector('.state'), place.querySelector('.switch')];
  write(state, workflow.active ? 'active' : 'inactive');
  state.classList.toggle('active', workflow.active);
  button.hidden = workflow.canEdit !== true;
  button.ariaChecked = String(workflow.active);
  button.ariaLabel = workflowNameOf(workflow);
}

/** Where it is said why a switch did not do what it is for. */
export function problemBeside(button) {
  return button.closest('li, .facts').querySelector('.problem');
}

function settle(workflows) {
  list.ariaBusy = 'false';
  list.hidden = workflows.rows.length === 0;
  skeleton.hidden = true;
  rest.hidden = workflows.nextCursor === null;
  showCount(workflows);
}

function rowFor(id) {
  return [...list.children].find((row) => row.dataset.id === id);
}

function rowOf(workflow, asked, change) {
  const row = element('row').content.cloneNode(true).querySelector('li');
  writeAll(row);
  row.dataset.id = workflow.id;
  row.querySelector('.name').href = `#${fragmentOf(workflow.id, asked)}`;
  showState(row.querySelector('.state-place'), workflow, change);
  fillRow(row, workflow);
  return row;
}

function fillRow(row, workflow) {
  row.querySelector('bdi').textContent = workflowNameOf(workflow);
  row.querySelector('time').dateTime = workflow.updatedAt;
  showState(row.querySelector('.state-place'), workflow);
  refreshTimes(row);
}
