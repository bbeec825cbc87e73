// Starts the operator's pages: who is signed in, which page the address names, and the way back after a sign-in that has ended.
import { closeDialogs, confirm } from './dialog.js';
import { h } from './dom.js';
import { entriesPage } from './entries-page.js';
import { anotherKeyPage, changeEntryPage } from './entry-form-page.js';
import { entryPage } from './entry-page.js';
import { explainPage } from './explain-page.js';
import { SignedOutError, onSession, read, remove } from './instance-api.js';
import { instancePage } from './instance-page.js';
import { newEntryPage } from './new-entry-page.js';
import { overviewPage } from './overview-page.js';
import { refusalsPage } from './refusals-page.js';
import { requestPage } from './request-page.js';
import { revocationsPage } from './revocations-page.js';
import { sessionsPage } from './sessions-page.js';
import { focusTitle, markPage, pageHead, prepareShell, showOperator, showView, tellNews } from './shell.js';
import { passwordPage, signInPage } from './sign-in-page.js';
import { failure } from './states.js';
import { trailPage } from './trail-page.js';
import { userPage, usersPage } from './user-pages.js';

/** Patterns of addresses, each with its title, the way that is marked, and what makes the page. */
const ROUTES = [
  ['', 'Overview', '', overviewPage],
  ['entries', 'Trusted entries', 'entries', entriesPage],
  ['entries/new', 'Add a trusted entry', 'entries', newEntryPage],
  ['entries/:entry', 'Trusted entry', 'entries', entryPage],
  ['entries/:entry/change', 'Change a trusted entry', 'entries', changeEntryPage],
  ['entries/:entry/another-key', 'Add another key', 'entries', anotherKeyPage],
  ['revocations', 'Revocations', 'entries', revocationsPage],
  ['refusals', 'Refusals', 'refusals', refusalsPage],
  ['requests/:requestId', 'Request', 'refusals', requestPage],
  ['explain', 'Explain a token', 'explain', explainPage],
  ['trail', 'Audit trail', 'trail', trailPage],
  ['users', 'Users', 'users', usersPage],
  ['users/:userId', 'User', 'users', userPage],
  ['sessions', 'Sessions', 'sessions', sessionsPage],
  ['instance', 'Instance', 'instance', instancePage],
  ['password', 'Change password', '', passwordPage],
];
/** So much later than a sign-in ends by its own time it is looked at: the instance's clock decides. */
const GRACE_MS = 5_000;

// Pages that share a sign-in hear each other: whose it is by now, or null.
const signIns = new BroadcastChannel('svc-operator');

let operator = null;
let session = null;
let acceptedAtMs = 0;
let leaving = new AbortController();
/** What is shown, and by which address. */
let shown = { view: null, title: '', hash: '' };
/** Whether the page waits for somebody to sign in. */
let isWaiting = false;
/** Whether the form that is shown was sent, or is to be left. */
let isSaved = false;
let isAskedToLeave = false;
let idleTimer;

onSession({
  used: watchIdleness,
  ended: () => askToSignIn('Your sign-in has ended. Sign in again to go on.'),
});
prepareShell({ onSignOut: signOut });
addEventListener('hashchange', async () => {
  // Somebody who stays is back at the address of what is shown.
  if (isWaiting || !isRoute() || (isAskedToLeave && location.hash === shown.hash)) return;
  if (await mayLeave()) open({ isMove: true });
});
addEventListener('beforeunload', (event) => {
  if (asksToLeave()) event.preventDefault();
});
signIns.addEventListener('message', ({ data }) => {
  if (data === null && operator !== null) askToSignIn('You signed out in another window.');
  // Somebody else's pages are not to go on under another name.
  else if (data !== null && data !== operator?.id) location.reload();
});
begin();

async function begin() {
  try {
    accept(await read('/session'));
    open({ isMove: false });
  } catch (error) {
    if (error instanceof SignedOutError) return;
    showView(h('div', {}, pageHead('Administration'), failure(error, begin)), 'Administration');
  }
}

function accept(answer) {
  session = answer;
  acceptedAtMs = performance.now();
  operator = answer.operator;
  showOperator(operator);
  watchIdleness();
}

/** Other addresses are places within a page. */
function isRoute() {
  return location.hash === '' || location.hash.startsWith('#/');
}

function asksToLeave() {
  return !isSaved && holdsTyped(shown.view, 'form[data-asks-to-leave]');
}

/** Asks where a filled form would be lost. Who stays finds the address that was. */
async function mayLeave() {
  if (!asksToLeave()) return true;
  const target = location.hash;
  isAskedToLeave = true;
  location.hash = shown.hash;
  const answer = await confirm({
    title: 'Leave without saving?',
    text: 'What you have typed here is lost.',
    action: 'Leave',
    isDanger: true,
    run: async () => true,
  });
  isAskedToLeave = false;
  if (answer === undefined) return false;
  isSaved = true;
  location.hash = target;
  return false;
}

/** Shows the page that the address names. */
function open({ isMove, news = '' }) {
  leaving.abort();
  leaving = new AbortController();
  isSaved = false;
  closeDialogs();
  const found = routeOf(location.hash);
  const { title, page, way, params, query } = found;
  const context = {
    ...{ params, query, operator, signal: leaving.signal },
    goTo: (hash) => {
      isSaved = true;
      location.hash = hash;
    },
    reload: (said) => open({ isMove: true, news: said }),
    accept,
    announce: announceSignIn,
  };
  const view = h('div', { class: 'view' }, news && h('p', { class: 'flash' }, news), page(context));
  shown = { view, title, hash: location.hash };
  markPage(way);
  showView(view, title);
  tellNews(news);
  if (isMove) focusTitle();
}

function routeOf(hash) {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/');
  for (const [pattern, title, way, page] of ROUTES) {
    const params = paramsOf(pattern.split('/'), parts);
    if (params !== undefined) return { title, way, page, params, query: new URLSearchParams(search) };
  }
  return { title: 'Not found', way: null, page: missingPage, params: {}, query: new URLSearchParams() };
}

function paramsOf(pattern, parts) {
  if (pattern.length !== parts.length) return undefined;
  const params = {};
  for (const [index, name] of pattern.entries()) {
    if (name.startsWith(':')) params[name.slice(1)] = decoded(parts[index]);
    else if (name !== parts[index]) return undefined;
  }
  return params;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function missingPage() {
  return [
    pageHead('Page not found', { lead: 'The address may be mistyped, or the page has moved.' }),
    h('p', {}, h('a', { href: '#/' }, 'To the overview')),
  ];
}

/**
 * Puts the sign-in in the place of the page, which is kept, unseen and out of the document. Afterwards the same person finds
 * what was typed into a form; whatever else was shown is read anew.
 */
function askToSignIn(reason) {
  if (isWaiting) return;
  isWaiting = true;
  clearTimeout(idleTimer);
  closeDialogs();
  const before = operator;
  operator = null;
  showOperator(null);
  const page = signInPage({
    reason: before === null ? '' : reason,
    email: before?.email ?? '',
    onSignedIn: (answer) => comeBack(answer, before),
  });
  showView(page, 'Sign in');
  tellNews(before === null ? '' : reason);
  page.querySelector(before === null ? 'input' : 'input[type=password]').focus();
}

function comeBack(answer, before) {
  isWaiting = false;
  accept(answer);
  announceSignIn();
  const keeps = before?.id === operator.id && shown.hash === location.hash && holdsTyped(shown.view);
  if (!keeps) return open({ isMove: true });
  showView(shown.view, shown.title);
  const news = 'You are signed in again. What you had typed is still here, and was not sent.';
  tellNews(news);
  shown.view.prepend(h('p', { class: 'flash' }, news));
  focusTitle();
}

/** Whether a form that is worth keeping has been touched. */
function holdsTyped(view, forms = 'form[data-kept]') {
  const controls = view?.querySelectorAll(`${forms} :is(input, textarea, select)`) ?? [];
  return [...controls].some(isTouched);
}

function isTouched(control) {
  if (control.type === 'checkbox' || control.type === 'radio')
    return control.checked !== control.defaultChecked;
  if (control instanceof HTMLSelectElement)
    return (
      [...control.options].some((option) => option.selected !== option.defaultSelected) &&
      control.selectedIndex > 0
    );
  return control.value !== control.defaultValue;
}

function announceSignIn() {
  signIns.postMessage(operator?.id ?? null);
}

async function signOut() {
  await remove('/session');
  signIns.postMessage(null);
  operator = null;
  shown = { view: null, title: '', hash: '' };
  askToSignIn('');
}

/** Looks once the sign-in must have ended: nobody is to read on a screen that was left. */
function watchIdleness() {
  if (operator === null) return;
  clearTimeout(idleTimer);
  // By the instance's count: this machine's clock may be wrong.
  const leftMs = session.expiresInSeconds * 1000 - (performance.now() - acceptedAtMs);
  const endMs = Math.min(session.idleSeconds * 1000, Math.max(leftMs, 0));
  idleTimer = setTimeout(() => read('/session').catch(() => undefined), endMs + GRACE_MS);
}
