// What stands in the place of content: that it is on its way, that there is none, or that it could not be had.
import { RefusedError, SignedOutError, UnreachableError, isAborted } from './instance-api.js';
import { h } from './dom.js';
import { duration } from './wording.js';

/** By what each place is being filled. */
const loads = new WeakMap();

/**
 * Has a place filled by what is read, in a shape that stands there meanwhile. A late answer to what was asked before is not shown.
 * @param {(data: any) => Node | Node[]} show
 */
export async function fill(place, load, show) {
  const retry = () => fill(place, load, show);
  const isLate = () => loads.get(place) !== retry;
  loads.set(place, retry);
  place.setAttribute('aria-busy', 'true');
  place.replaceChildren(skeleton());
  try {
    const data = await load();
    if (isLate()) return;
    place.replaceChildren(...[show(data)].flat());
  } catch (error) {
    if (isLate() || isAborted(error) || error instanceof SignedOutError) return;
    place.replaceChildren(failure(error, retry));
  } finally {
    if (!isLate()) place.removeAttribute('aria-busy');
  }
}

/** A place that is filled at once. */
export function filled(load, show) {
  const place = h('div', {});
  fill(place, load, show);
  return place;
}

/** Of rows that are on their way: it appears late, so that an answer that comes at once leaves no flicker. */
function skeleton() {
  const row = () => h('li', {}, h('span', { class: 'rule' }), h('span', { class: 'rule short' }));
  return h('ul', { class: 'card skeleton', 'aria-hidden': 'true' }, row(), row(), row());
}

/** That nothing is there, and what would be. */
export function empty(title, text, ...actions) {
  return h('div', { class: 'card message' }, h('h2', {}, title), h('p', { class: 'soft' }, text), actions);
}

/** That something could not be had, and what to do. */
export function failure(error, retry) {
  return h(
    'div',
    { class: 'card message', role: 'alert' },
    h('h2', {}, 'This could not be loaded'),
    problemText(error),
    retry && h('button', { type: 'button', onclick: retry }, 'Try again'),
  );
}

/** Beside what it is about; empty and unseen until there is something to say. */
export function problemPlace() {
  return h('div', { class: 'problem', role: 'alert', hidden: true, tabindex: '-1' });
}

function tellProblem(place, error) {
  place.replaceChildren(problemText(error));
  place.hidden = false;
}

/**
 * Does what a button is for, once at a time, and says in a place what went wrong.
 * @returns whether it was done; of a page that was left, or a sign-in that has ended, nothing is said
 */
export async function attempt(button, problem, work) {
  if (button.ariaDisabled === 'true') return false;
  button.ariaDisabled = 'true';
  problem.hidden = true;
  try {
    await work();
    return true;
  } catch (error) {
    if (!isAborted(error) && !(error instanceof SignedOutError)) tellProblem(problem, error);
    return false;
  } finally {
    button.ariaDisabled = 'false';
  }
}

/** What went wrong, and what to do about it: the instance's own words where it has some. */
function problemText(error) {
  if (error instanceof RefusedError) return refusalText(error);
  if (error instanceof UnreachableError)
    return h(
      'p',
      {},
      'The instance did not answer. Check your connection and whether it runs, then try again.',
    );
  return h('p', {}, error.isForPeople ? error.message : 'Something went wrong on this page. Reload it.');
}

function refusalText({ message, status, requestId, retryAfterSeconds }) {
  const [first, ...details] = message.split('\n').filter((line) => line.trim() !== '');
  const points = details.map((line) => h('li', {}, line.replace(/^\s*-?\s*/, '')));
  return h(
    'div',
    {},
    h('p', {}, first),
    points.length > 0 && h('ul', {}, points),
    retryAfterSeconds !== null && h('p', {}, `Try again in ${duration(retryAfterSeconds)}.`),
    status >= 500 &&
      requestId &&
      h('p', { class: 'soft' }, 'In the log of the instance: ', h('code', {}, requestId)),
  );
}

/** An error whose words are meant for people. */
export function problemOf(message) {
  return Object.assign(new Error(message), { isForPeople: true });
}
