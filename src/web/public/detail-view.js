// Writes one workflow by itself: what it is, who may edit it, its steps and its definition, none of it to be changed here.
import { showState } from './list-view.js';
import { element, refreshTimes, showPanels } from './view.js';
import { nameOf, plainJsonOf, plainNameOf, workflowNameOf } from './wording.js';
import { say } from './words.js';

/** Shows that a workflow is on its way, with as much of it as the list knew. */
export function showDetailLoading(workflow) {
  clearDetail();
  element('detail').ariaBusy = 'true';
  element('detail-name').textContent = workflow ? workflowNameOf(workflow) : '…';
  showPanels(['detail']);
  // The link that led here has gone; what it led to is next to be read.
  if (document.hasFocus()) element('detail').querySelector('h2').focus();
  else element('detail').scrollIntoView();
}

/** Leaves nothing of a workflow in the document. */
export function clearDetail() {
  element('detail').querySelector('.problem').hidden = true;
  for (const id of ['detail-name', 'detail-state', 'detail-project', 'detail-editors', 'steps', 'definition'])
    element(id).replaceChildren();
  for (const time of element('detail').querySelectorAll('time')) {
    time.removeAttribute('datetime');
    time.textContent = '…';
  }
  element('detail-project-place').hidden = true;
  element('no-steps').hidden = true;
}

/**
 * @param change called with the workflow and its switch
 * @param {{ project: object | null, editors: object[] | null }} surroundings as far as the instance tells of them
 */
export function showDetail(workflow, { project, editors }, change) {
  element('detail').ariaBusy = 'false';
  element('detail-name').textContent = workflowNameOf(workflow);
  element('detail-changed').dateTime = workflow.updatedAt;
  element('detail-made').dateTime = workflow.createdAt;
  element('detail-state').replaceChildren();
  showState(element('detail-state'), workflow, change);
  element('detail-project-place').hidden = project === null;
  element('detail-project').textContent =
    project?.type === 'personal' ? say('personalProject') : plainNameOf(project?.name ?? '');
  showEditors(workflow, editors);
  showSteps(workflow);
  const { nodes, connections } = workflow;
  element('definition').textContent = plainJsonOf({ nodes, connections });
  refreshTimes(element('detail'));
}

/** Shows the new state of the workflow that is shown. */
export function refreshDetail(workflow) {
  element('detail-changed').dateTime = workflow.updatedAt;
  showState(element('detail-state'), workflow);
  refreshTimes(element('detail'));
}

/** Administrators of the instance may edit everything, and are members of few projects. */
function showEditors({ canEdit }, editors) {
  const names = editors?.map(nameOf) ?? [say(canEdit === true ? 'you' : 'notYou')];
  const parts = [...names.map(isolated), say('administrators')].slice(0, editors === null ? 1 : undefined);
  element('detail-editors').replaceChildren(
    ...parts.flatMap((part, index) => (index === 0 ? [part] : [', ', part])),
  );
}

function showSteps({ nodes, connections }) {
  const items = nodes.map((node) => {
    const item = document.createElement('li');
    const name = document.createElement('strong');
    name.append(isolated(textOf(node.name) || say('unnamedStep')));
    const type = document.createElement('code');
    type.append(isolated(textOf(node.type)));
    item.append(name, ' ', type);
    const next = nextOf(connections[node.name]);
    if (next.length > 0) {
      const line = document.createElement('p');
      line.className = 'soft';
      line.textContent = say('leadsTo', next.map(plainNameOf));
      item.append(line);
    }
    return item;
  });
  element('steps').replaceChildren(...items);
  element('steps').hidden = items.length === 0;
  element('no-steps').hidden = items.length > 0;
}

/** The names that connections lead to, in whatever form they were stored: nothing has checked it. */
function nextOf(connections) {
  const found = [];
  const visit = (value) => {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value) && typeof value.node === 'string') found.push(value.node);
    else Object.values(value).forEach(visit);
  };
  visit(connections);
  return [...new Set(found)];
}

function textOf(value) {
  return typeof value === 'string' ? plainNameOf(value) : '';
}

function isolated(text) {
  const part = document.createElement('bdi');
  part.textContent = text;
  return part;
}
