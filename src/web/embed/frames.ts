// Frames in the host page, and posts into them.
import type { Appearance } from './options.js';
import { textsIn } from './texts.js';

let frameCount = 0;

/** A form finds its frame by name, so no two frames of a page may share one. */
function named(frame: HTMLIFrameElement): HTMLIFrameElement {
  // Two copies of this code may be in one page.
  frame.name = `embedded-instance-${++frameCount}-${Math.random()}`;
  return frame;
}

export function newFrame(properties: object): HTMLIFrameElement {
  return named(Object.assign(document.createElement('iframe'), properties));
}

export function addHiddenFrame(): HTMLIFrameElement {
  const frame = newFrame({ hidden: true });
  document.body.append(frame);
  return frame;
}

/**
 * A frame beside the one that is shown, with the same attributes. It has no history yet, so that the step back never leads to the page
 * of another login.
 */
export function addSuccessor(shown: HTMLIFrameElement): HTMLIFrameElement {
  const frame = named(shown.cloneNode() as HTMLIFrameElement);
  frame.removeAttribute('src');
  // Laid out as the shown one, unseen: where `display` changes while a page is coming, Chromium may never paint that page.
  const width = shown.offsetWidth || shown.parentElement?.clientWidth;
  const height = shown.offsetHeight || shown.height;
  frame.style.cssText = `position:fixed;visibility:hidden;width:${width}px;height:${height}px`;
  shown.after(frame);
  return frame;
}

/** Some browsers report that an empty frame has loaded; a document of another origin cannot be read. */
export function isBlank({ contentWindow }: HTMLIFrameElement): boolean {
  try {
    return contentWindow?.location.href === 'about:blank';
  } catch {
    return false;
  }
}

/** Whether an element, or one in it, has the focus, in a shadow root too. */
export function hasFocus(element: Element): boolean {
  return element.contains((element.getRootNode() as Document | ShadowRoot).activeElement);
}

/** @returns whether the browser has taken the form: in a sandbox without `allow-forms` it does not */
export function postInto(target: string, action: string, fields: Record<string, unknown>): boolean {
  const form = document.createElement('form');
  Object.assign(form, { method: 'post', action, target });
  for (const [name, value] of Object.entries(fields)) {
    form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
  }
  let isTaken = false;
  form.onsubmit = () => void (isTaken = true);
  // In a shadow root the host page's own listeners do not hear of it.
  const place = document.createElement('div');
  place.attachShadow({ mode: 'closed' }).append(form);
  document.body.append(place);
  form.requestSubmit();
  place.remove();
  return isTaken;
}

/** Writes into an empty frame that its page is loading. */
export function drawLoading({ contentDocument }: HTMLIFrameElement, appearance: Appearance): void {
  // A frame outside the page has none.
  if (!contentDocument) return;
  const { lang = '', theme = 'auto' } = appearance;
  const { documentElement: root, body } = contentDocument;
  root.lang = lang;
  root.style.colorScheme = theme === 'auto' ? 'light dark' : theme;
  body.style.cssText = 'font:1rem system-ui;text-align:center;margin:3rem';
  body.role = 'status';
  body.textContent = textsIn(appearance).loading;
}
