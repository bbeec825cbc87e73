// The frame that is shown: whose page it shows, what it says to that page, and what stands in the page's place.
import { innerPath, landing, namingUser } from './addresses.js';
import { Card } from './card.js';
import { drawLoading, hasFocus, isBlank, newFrame } from './frames.js';
import type { Appearance, EmbeddedInstanceOptions, LoginFailure } from './options.js';

export class ShownFrame {
  /** The present page: the target of the last login, or a later one. */
  path = '/';
  /** The last signed-in user. */
  userId: string | undefined;
  /** Whether there is a listener for `retry`: without one there are no buttons. */
  canRetry = false;
  readonly #card: Card;
  /** Whether it is as high as its page, which the host page scrolls; else the host page's style says how high it is. */
  readonly #isFitted: boolean;
  /** Where the host page was scrolled to when the list was left, and whether it is to be there again. */
  readonly #place = { top: 0, isDue: false };
  #element: HTMLIFrameElement;

  /** @param tell called when the browser has lost the page, which is shown again, and when the visitor asks for another login */
  constructor(
    readonly origin: string,
    private readonly appearance: Appearance,
    { container, title, height, errorUi }: EmbeddedInstanceOptions,
    private readonly tell: (name: 'reloaded' | 'retry') => void,
  ) {
    this.#card = new Card(errorUi);
    this.#isFitted = height === 'auto';
    // As attributes, which any style of the host page outweighs.
    const frame = newFrame({ title, width: '100%', height: '600', frameBorder: '0' });
    this.#element = frame;
    container.append(frame);
    drawLoading(frame, this.look());
    frame.onload = () => this.#reload(frame);
  }

  get element(): HTMLIFrameElement {
    return this.#element;
  }

  look(): Appearance {
    const { lang = document.documentElement.lang } = this.appearance;
    return { ...this.appearance, lang };
  }

  configure(appearance: Appearance): void {
    Object.assign(this.appearance, appearance);
    this.say({ type: 'appearance', ...this.look() });
  }

  /** The address, without its origin, by which a path is reached after a login. */
  landing(path: string): string {
    return landing(this.origin, path, this.look());
  }

  navigate(path: string): void {
    this.path = path;
    if (this.userId === undefined) return;
    this.say({ type: 'navigate', path: innerPath(this.origin, path), look: this.look() });
  }

  /** Only a page of the instance hears it: of an empty frame the browser complains. @param frame another one than the shown one */
  say(message: object, frame = this.#element): void {
    if (!isBlank(frame)) frame.contentWindow?.postMessage(message, this.origin);
  }

  /** Makes the page in the frame answer; it offers another login where that is heard. */
  hello(frame = this.#element): void {
    this.say({ type: 'hello', canRetry: this.canRetry }, frame);
  }

  /** Puts the frame of a login in the place of the one that was shown. */
  replaceBy(frame: HTMLIFrameElement): void {
    const shown = this.#element;
    const hadFocus = [this.#card.remove(), hasFocus(shown)].includes(true);
    frame.style.cssText = shown.style.cssText;
    frame.style.display = '';
    shown.remove();
    this.#element = frame;
    frame.onload = () => this.#reload(frame);
    if (hadFocus) frame.focus();
  }

  /** The page is about to show a part of itself that is higher or lower. */
  follow(path: string): void {
    if (this.#isFitted) this.#keepPlace(path);
    this.path = path;
  }

  #keepPlace(path: string): void {
    const isList = !path.includes('#');
    if (!isList && !this.path.includes('#')) this.#place.top = scrollY;
    this.#place.isDue = isList;
    if (!isList && this.#element.getBoundingClientRect().top < 0) this.#element.scrollIntoView();
  }

  /** @param height of the page, in CSS pixels; 0 where it has no box */
  fit(height: number): void {
    if (!this.#isFitted || height === 0) return;
    this.#element.style.height = `${height}px`;
    if (this.#place.isDue) scrollTo(scrollX, this.#place.top);
    this.#place.isDue = false;
  }

  /** What the frame shows stays below the card, if it shows anything. */
  showCard(failure: LoginFailure): void {
    const retry = this.canRetry ? () => this.tell('retry') : undefined;
    const isShown = this.#card.show(failure, this.look(), this.#element, retry);
    this.#element.style.display = isShown && this.userId === undefined ? 'none' : '';
  }

  remove(): void {
    this.#card.remove();
    this.#element.remove();
  }

  /**
   * A frame that is moved in the document loses its page: browsers put a blank one there. Shows the instance again, where
   * a page of it was shown.
   */
  #reload(frame: HTMLIFrameElement): void {
    if (!isBlank(frame)) return this.hello(frame);
    // Firefox puts another blank document in the place of the first.
    if (this.userId === undefined) return drawLoading(frame, this.look());
    // Else the page would be that of the user who is signed in by now.
    const address = namingUser(this.landing(this.path), this.userId);
    frame.contentWindow?.location.replace(this.origin + address);
    this.tell('reloaded');
  }
}
