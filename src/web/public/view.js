// Writes to the document what is of no one workflow: who is signed in, notices, which panel is shown. All text as text.
import { nameOf, roleInWords, dateInWords, timeAgo } from './wording.js';
import { say, write, writeAll } from './words.js';

export const element = (id) => document.getElementById(id);

const panels = ['notice', 'workflows', 'detail'].map(element);

const noticeButton = element('notice-button');
export const backButton = element('back');
export const signOutButton = element('sign-out');

let account = null;
/** The latest notice. */
let notice = {};

/** Shows who is signed in; with null nothing of who was stays in the document. */
export function showAccount(answer) {
  account = answer;
  element('account').hidden = account === null;
  element('person').textContent = account === null ? '' : nameOf(account.user);
  element('role').textContent = account === null ? '' : roleInWords(account.user.role);
}

/**
 * Shows a notice, in the place of everything unless it is about the list, which then keeps its filters.
 * @param {{ title: string, text?: string, button?: string, act?: () => void, requestId?: string | null }} what names of
 *   words, what the button does, and what support can look for
 */
export function showNotice(what, besides = []) {
  notice = what;
  const { title, text, button, requestId } = what;
  write(element('notice-title'), title);
  element('notice-text').hidden = text === undefined;
  if (text !== undefined) write(element('notice-text'), text);
  noticeButton.hidden = button === undefined;
  if (button !== undefined) write(noticeButton, button);
  element('reference').hidden = !requestId;
  element('reference').querySelector('code').textContent = requestId ?? '';
  tellNews(say(title));
  showPanels(['notice', ...besides]);
}

/** Says something beside what it is about, until the next try. @param {string | null} name of the words; null: no more */
export function showProblem(place, name) {
  place.hidden = name === null;
  if (name !== null) write(place, name);
}

/** Has assistive technology say it. */
export function tellNews(text) {
  element('news').textContent = text;
}

/**
 * Shows some panels and hides all others. If the focused control disappears the title takes the focus, so that the
 * keyboard's place is kept; nothing else moves it, since it may be the host page's.
 */
export function showPanels(ids) {
  keepFocus(() => {
    for (const panel of panels) panel.hidden = !ids.includes(panel.id);
  });
}

export function isShown(id) {
  return !element(id).hidden;
}

/** @param {HTMLElement} [next] takes the focus if what has it is hidden or gone afterwards; the title if left out */
export function keepFocus(work, next = element('title')) {
  const hadFocus = document.hasFocus();
  const focused = document.activeElement;
  work();
  if (hadFocus && (focused?.closest('[hidden]') || focused?.isConnected === false))
    next.focus({ preventScroll: true });
}

/** Says again how long ago the changes were. */
export function refreshTimes(root = document) {
  const now = new Date();
  for (const time of root.querySelectorAll('time[datetime]')) {
    const moment = new Date(time.dateTime);
    const [relative, absolute] = [timeAgo(moment, now), dateInWords(moment)];
    time.textContent = time.className === 'absolute' ? `${absolute} (${relative})` : relative;
    time.title = absolute;
  }
}

/** What had no answer may have one by now. */
export function tryAgain() {
  if (isShown('notice') && notice.button === 'tryAgain') notice.act();
}

noticeButton.addEventListener('click', () => notice.act());

/** Says everything again, in another language. */
export function refreshWords() {
  writeAll();
  showAccount(account);
  refreshTimes();
}
