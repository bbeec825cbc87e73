// Frames in the host page, posts into them, and the texts that are shown where no page of the instance can show them.
import type { Appearance, LoginFailure } from './options.js';

interface Texts {
  loading: string;
  again: string;
  reference: string;
  /** By the word of the failure. */
  failures: Record<string, string>;
  /** Of the words that are not among them. */
  refused: string;
}

const TEXTS: Record<string, Texts> = {
  en: {
    loading: 'Loading …',
    again: 'Try again',
    reference: 'Reference:',
    failures: {
      unreachable: 'Not available at the moment.',
      no_session: 'Your browser did not keep the sign-in. Allow cookies for this page, then try again.',
      another_user: 'Another user has signed in with this browser.',
      too_many_requests: 'There were too many sign-ins within a short time. Try again in a minute.',
      user_disabled: 'Your access has been switched off. Ask your administrator.',
    },
    refused: 'You could not be signed in. If that does not change, contact support.',
  },
  de: {
    loading: 'Wird geladen …',
    again: 'Erneut versuchen',
    reference: 'Referenznummer:',
    failures: {
      unreachable: 'Zurzeit nicht verfügbar.',
      no_session:
        'Ihr Browser hat die Anmeldung nicht gespeichert. Erlauben Sie Cookies für diese Seite und versuchen Sie es erneut.',
      another_user: 'In diesem Browser hat sich eine andere Person angemeldet.',
      too_many_requests: 'Zu viele Anmeldungen in kurzer Zeit. Versuchen Sie es in einer Minute erneut.',
      user_disabled: 'Ihr Zugang ist gesperrt. Wenden Sie sich an Ihre Administration.',
    },
    refused: 'Sie konnten nicht angemeldet werden. Wenn das so bleibt, wenden Sie sich an den Support.',
  },
};
/** To the visitor these are one. */
const UNAVAILABLE = ['timeout', 'temporarily_unavailable', 'internal_error', 'not_enabled', 'no_token'];
let frameCount = 0;

/** A form finds its frame by name, so no two frames of a page may share one. */
export function named(frame: HTMLIFrameElement): HTMLIFrameElement {
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

function textsIn({ lang = '' }: Appearance): Texts {
  return TEXTS[lang.slice(0, 2)] ?? TEXTS['en']!;
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

/** Says why there is no page; with a button where `retry` is given. */
export function failureCard(
  { error, requestId }: LoginFailure,
  appearance: Appearance,
  retry: (() => void) | undefined,
): HTMLElement {
  const { again, failures, loading, reference, refused } = textsIn(appearance);
  const card = document.createElement('div');
  card.role = 'alert';
  card.style.cssText =
    'text-align:center;line-height:2;padding:1.5rem;border:1px solid;overflow-wrap:anywhere';
  card.append(failures[UNAVAILABLE.includes(error) ? 'unreachable' : error] ?? refused);
  if (requestId) card.append(document.createElement('br'), `${reference} ${requestId}`);
  if (retry) {
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: again });
    button.onclick = () => {
      button.textContent = loading;
      retry();
    };
    card.append(document.createElement('br'), button);
  }
  return card;
}
