// Which view is shown, by the fragment of the address; and the question before a filled form is left.
import { signal } from '@preact/signals';
import { closeDialog, confirm } from './dialog.js';

export interface Shown {
  hash: string;
  /** Said above the view, once. */
  news: string;
  /** Another number for each view, also for one that is read anew. */
  id: number;
}

export const shown = signal<Shown>({ hash: location.hash, news: '', id: 0 });

/** Holds the view; it leaves the document while nobody is signed in. */
export const stage = document.createElement('div');

let isSaved = false;
let isAsked = false;

/** Leads to another view, also from a filled form. */
export function goTo(hash: string): void {
  isSaved = true;
  location.hash = hash;
}

/** Reads the view anew. */
export function reload(news = ''): void {
  isSaved = false;
  closeDialog();
  shown.value = { hash: location.hash, news, id: shown.value.id + 1 };
}

/** A fragment with encoded text in place of each `?`. */
export function address(pattern: string, ...parts: string[]): string {
  return parts.reduce((path, part) => path.replace('?', () => encodeURIComponent(part)), pattern);
}

/** Whether somebody has typed into a form that is worth keeping. */
export function holdsTyped(): boolean {
  return stage.querySelector('form[data-kept][data-touched]') !== null;
}

function asksToLeave(): boolean {
  return !isSaved && stage.querySelector('form[data-asks-to-leave][data-touched]') !== null;
}

/** @param isOpen whether somebody is signed in */
export function followAddress(isOpen: () => boolean): void {
  addEventListener('hashchange', () => {
    const isPlace = location.hash === '' || location.hash.startsWith('#/');
    // Whoever stays is back at the address of what is shown.
    if (!isOpen() || !isPlace || (isAsked && location.hash === shown.value.hash)) return;
    if (asksToLeave()) void askToLeave(location.hash);
    else reload();
  });
  addEventListener('beforeunload', (event) => {
    if (isOpen() && asksToLeave()) event.preventDefault();
  });
}

async function askToLeave(target: string): Promise<void> {
  isAsked = true;
  location.hash = shown.value.hash;
  const answer = await confirm({
    title: 'Leave without saving?',
    text: 'What you have typed here is lost.',
    action: 'Leave',
    isDanger: true,
    run: () => Promise.resolve(),
  });
  isAsked = false;
  if (answer !== undefined) goTo(target);
}
