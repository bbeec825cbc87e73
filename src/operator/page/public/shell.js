// What stands around every page: the way to all of them, who is signed in, and what was just done.
import { h } from './dom.js';
import { roleInWords, zoneInWords } from './wording.js';

const PAGES = [
  ['', 'Overview'],
  ['entries', 'Trusted entries'],
  ['refusals', 'Refusals'],
  ['explain', 'Explain a token'],
  ['users', 'Users'],
  ['sessions', 'Sessions'],
  ['trail', 'Audit trail'],
  ['instance', 'Instance'],
];

const element = (id) => document.getElementById(id);
const main = element('main');
const menu = element('menu');

/** @param {{ onSignOut: () => Promise<void> }} how */
export function prepareShell({ onSignOut }) {
  element('pages').append(
    ...PAGES.map(([name, title]) => h('li', {}, h('a', { href: `#/${name}`, 'data-page': name }, title))),
  );
  element('skip').addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
  menu.addEventListener('click', () => openMenu(menu.ariaExpanded !== 'true'));
  element('side').addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || menu.ariaExpanded !== 'true') return;
    openMenu(false);
    menu.focus();
  });
  element('sign-out').addEventListener('click', async () => {
    const problem = element('sign-out-problem');
    problem.hidden = true;
    try {
      await onSignOut();
    } catch {
      problem.textContent = 'Signing out did not work. Please try again.';
      problem.hidden = false;
    }
  });
}

/** Shows who is signed in; with null nothing of who was stays in the document. */
export function showOperator(operator) {
  element('bar').hidden = operator === null;
  element('skip').hidden = operator === null;
  element('operator').textContent = operator?.email ?? '';
  element('zone').textContent = `Times are in ${zoneInWords()}`;
  element('role').textContent = operator === null ? '' : `(${roleInWords(operator.role)})`;
  document.body.classList.toggle('signed-in', operator !== null);
}

/** Marks the way that leads to the page that is shown. */
export function markPage(name) {
  openMenu(false);
  for (const link of element('pages').querySelectorAll('a')) {
    if (link.dataset.page === name) link.ariaCurrent = 'page';
    else link.ariaCurrent = null;
  }
}

/** Puts a page in the place of what is there. */
export function showView(view, title) {
  main.replaceChildren(view);
  document.title = `${title} · Administration`;
}

/** Where a page begins is next to be read, since the link that led to it may have gone. */
export function focusTitle() {
  const title = main.querySelector('h1');
  if (title === null) return;
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** Has assistive technology say it. */
export function tellNews(text) {
  element('news').textContent = text;
}

/** The head of a page: what it is about, and what can be done there. */
export function pageHead(title, { lead, actions = [], back } = {}) {
  return h(
    'div',
    { class: 'page-head' },
    back && h('a', { class: 'back', href: back.href }, h('span', { 'aria-hidden': 'true' }, '‹ '), back.text),
    h('div', { class: 'title-row' }, h('h1', {}, title), h('div', { class: 'buttons' }, actions)),
    lead && h('p', { class: 'soft lead' }, lead),
  );
}

/** A part of a page with its own title. */
export function section(title, ...children) {
  return h('section', { class: 'section' }, h('h2', {}, title), children);
}

function openMenu(open) {
  menu.ariaExpanded = String(open);
  element('side').classList.toggle('open', open);
}
