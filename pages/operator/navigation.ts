// Chooses the view by the address's fragment, and asks before the operator leaves a filled form.
import { signal } from '@preact/signals';
import { closeDialog, confirm } from './dialog.js';

/** The properties of every view: the parts of its address. */
export interface PageProps {
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
}

export interface Shown {
  hash: string;
  /** A message above the view, shown once. */
  news: string;
  /** A new number for each view, even if the same one is loaded again. */
  id: number;
}

export const shown = signal<Shown>({ hash: location.hash, news: '', id: 0 });

/** The element with the view. It is removed from the document while nobody is signed in. */
export const stage = document.createElement('div');

let isSaved = false;
let isAsked = false;

/** Opens another view, even from a filled form. */
export function goTo(hash: string): void {
  isSaved = true;
  location.hash = hash;
}

/** Loads the view again. */
export function reload(news = ''): void {
  isSaved = false;
  closeDialog();
  shown.value = { hash: location.hash, news, id: shown.value.id + 1 };
}

/** A fragment in which encoded text replaces each `?`. */
export function address(pattern: string, ...parts: string[]): string {
  return parts.reduce((path, part) => path.replace('?', () => encodeURIComponent(part)), pattern);
}

/** Whether a form has input to keep when the session ends. */
export function hasInputToKeep(): boolean {
  return stage.querySelector('form[data-kept][data-touched]') !== null;
}

function asksToLeave(): boolean {
  return !isSaved && stage.querySelector('form[data-asks-to-leave][data-touched]') !== null;
}

/** @param isOpen whether somebody is signed in */
export function followAddress(isOpen: () => boolean): void {
  addEventListener('hashchange', () => {
    const isPlace = location.hash === '' || location.hash.startsWith('#/');
    // If the operator stays, the address of the current view is restored.
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
