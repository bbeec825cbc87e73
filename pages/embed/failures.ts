// The script's own failures: a text for the visitor if no page of the instance has loaded, and a text for the developer.
import type { LoginFailure } from './events.js';
import type { Appearance } from './options.js';

/** Temporary failures. */
export const PASSING = [
  'unreachable',
  'timeout',
  'temporarily_unavailable',
  'internal_error',
  'not_enabled',
  'no_token',
  'too_many_requests',
];

/** Explains a cause to the developer of the host page. */
export const EXPLANATIONS: Record<string, string> = {
  insecure_page: 'This page must use HTTPS',
  sandboxed: 'The sandbox lacks allow-scripts or allow-same-origin',
  opaque_host: 'This page has no origin: it is a file, or sandboxed',
  wrong_address: "The url is not the instance's SVC_BASE_URL",
  not_allowed_here: 'No entry lists this page in `origins`',
  blocked: 'A policy of this page blocks the frame',
  local_network: 'The browser denies this page the local network',
};

interface Texts {
  unavailable: string;
  local: string;
  refused: string;
  later: string;
  again: string;
  loading: string;
}

const EN: Texts = {
  unavailable: 'Not available at the moment.',
  local: 'Allow this page to reach devices on your local network.',
  refused: 'This content cannot be shown here. Contact support:',
  later: 'Trying again automatically.',
  again: 'Try again',
  loading: 'Loading …',
};

const DE: Texts = {
  unavailable: 'Zurzeit nicht verfügbar.',
  local: 'Erlauben Sie dieser Seite den Zugriff auf Geräte in Ihrem lokalen Netzwerk.',
  refused: 'Dieser Inhalt kann hier nicht angezeigt werden. Wenden Sie sich an den Support:',
  later: 'Es wird automatisch erneut versucht.',
  again: 'Erneut versuchen',
  loading: 'Wird geladen …',
};

/** A card with the failure, and a button if there is `retry`. */
export function cardOf(
  { error }: LoginFailure,
  { lang = '', theme = 'auto' }: Appearance,
  isTriedAgain: boolean,
  retry?: () => void,
): HTMLElement {
  const texts = /^de\b/i.test(lang) ? DE : EN;
  const mayPass = PASSING.includes(error);
  const card = document.createElement('div');
  card.setAttribute('role', 'alert');
  card.lang = texts === DE ? 'de' : 'en';
  card.dir = 'ltr';
  card.style.cssText =
    'max-width:40rem;margin:2rem auto;padding:1.5rem;font:1rem/1.5 system-ui;text-align:center;color:CanvasText;background:Canvas;border:1px solid #8888;border-radius:.75rem;overflow-wrap:anywhere';
  card.style.colorScheme = theme === 'auto' ? 'light dark' : theme;
  const lines = [
    mayPass ? texts.unavailable : error === 'local_network' ? texts.local : `${texts.refused} ${error}`,
  ];
  if (mayPass && isTriedAgain) lines.push(texts.later);
  card.append(...lines.map((line) => Object.assign(document.createElement('div'), { textContent: line })));
  if (retry) card.append(buttonOf(texts, retry));
  return card;
}

function buttonOf({ again, loading }: Texts, retry: () => void): HTMLElement {
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: again });
  button.style.cssText =
    'font:inherit;color:inherit;background:none;padding:.5em 1.25em;margin-top:1em;border:1px solid;border-radius:.5rem;cursor:pointer';
  button.onclick = () => {
    button.textContent = loading;
    retry();
  };
  return button;
}
