// Says in the container why there is no page: by a card, or by an element of the host page's own.
import { hasFocus } from './frames.js';
import type { Appearance, LoginFailure } from './options.js';
import { textsIn } from './texts.js';

/** To the visitor these are one, and time may mend them. */
export const UNAVAILABLE = [
  'unreachable',
  'timeout',
  'temporarily_unavailable',
  'internal_error',
  'not_enabled',
  'no_token',
];

export class Card {
  #shown: HTMLElement | undefined;

  constructor(private readonly own: 'none' | HTMLElement | undefined) {
    if (own instanceof HTMLElement) own.hidden = true;
  }

  /** Above the frame, with a button where there is `retry`. @returns whether it is shown */
  show(failure: LoginFailure, appearance: Appearance, frame: Element, retry?: () => void): boolean {
    this.remove();
    if (this.own === 'none') return false;
    this.#shown = this.own ?? drawn(failure, appearance, retry);
    this.#shown.hidden = false;
    if (!this.own) frame.before(this.#shown);
    return true;
  }

  /** @returns whether it had the focus */
  remove(): boolean {
    const shown = this.#shown;
    if (shown === undefined) return false;
    const hadFocus = hasFocus(shown);
    if (shown === this.own) shown.hidden = true;
    else shown.remove();
    this.#shown = undefined;
    return hadFocus;
  }
}

function drawn({ error, requestId }: LoginFailure, appearance: Appearance, retry?: () => void): HTMLElement {
  const { again, failures, loading, reference, refused } = textsIn(appearance);
  const card = document.createElement('div');
  card.role = 'alert';
  card.style.cssText =
    'text-align:center;line-height:1.5;padding:1.5rem;border:1px solid #8888;border-radius:.75rem;overflow-wrap:anywhere';
  card.append(failures[UNAVAILABLE.includes(error) ? 'unreachable' : error] ?? refused);
  if (requestId) card.append(document.createElement('br'), `${reference} ${requestId}`);
  if (retry) {
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: again });
    button.style.cssText = 'font:inherit;padding:.5em 1em;margin-top:.75em';
    button.onclick = () => {
      button.textContent = loading;
      retry();
    };
    card.append(document.createElement('br'), button);
  }
  return card;
}
