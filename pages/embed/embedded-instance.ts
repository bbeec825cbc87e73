// A frame of the instance in a page of another origin: its login and the session's lifetime as events.
import type { MessageFromPage, SessionHandle } from '../protocol.js';
import { Attempt } from './attempt.js';
import type { EmbeddedInstanceEvents, EmbeddedSession, LoginFailure } from './events.js';
import { cardOf, EXPLANATIONS } from './failures.js';
import { Fit } from './fit.js';
import type { Appearance, ChangeableOptions, EmbeddedInstanceOptions, TokenSource } from './options.js';
import { CHANGEABLE, checkOptions, LOOKS } from './options.js';
import { PageFrame } from './page-frame.js';
import { Place } from './place.js';

type Message<Type> = Extract<MessageFromPage, { type: Type }>;
type FailureType = 'login-failed' | 'renewal-failed' | 'sign-out-failed';

/** Sessions of frames in this document by instance and `userKey`: the next frame of the same user continues one without a token. */
const handles = new Map<string, SessionHandle>();

/** One frame. Its page accepts messages only from this page, and this page only from the frame's window and origin. */
export class EmbeddedInstance {
  static readonly version: string = '0.1.0';
  static readonly events: readonly (keyof EmbeddedInstanceEvents)[] = [
    'session-ready',
    'session-expiring',
    'session-ended',
    'login-failed',
    'logout-failed',
    'retry',
    'reloaded',
    'navigated',
    'resize',
  ];

  /** `currentScript` is known only while the script runs for the first time. */
  static readonly #home: string | undefined = (
    globalThis.document?.currentScript as HTMLScriptElement | null | undefined
  )?.src;

  /** Set it if your code retries after failures. Then the notice announces a retry. */
  retries = false;
  readonly #options: EmbeddedInstanceOptions;
  readonly #page: PageFrame;
  readonly #place: Place;
  readonly #fit: Fit;
  readonly #events = new EventTarget();
  /** The listeners for `retry`. */
  readonly #retryListeners = new Set<object>();
  readonly #handleKey: string;
  #handle: SessionHandle | undefined;
  /** The page's answer to the last `hello`, with the key that tokens may be bound to. */
  #greeting: { jkt: string } | undefined;
  #attempt: Attempt | undefined;
  #card: HTMLElement | undefined;

  /** @throws TypeError for an option that is unknown or has a wrong value */
  constructor(options: EmbeddedInstanceOptions = {} as EmbeddedInstanceOptions) {
    const { container, title, url = EmbeddedInstance.#home, errorUi, userKey } = options;
    checkOptions({ ...options, container, title, url });
    const { origin } = new URL(String(url));
    this.#options = { ...options };
    this.#handleKey = `${origin} ${userKey}`;
    this.#handle = userKey === undefined ? undefined : handles.get(this.#handleKey);
    this.#place = new Place(origin, this.#options, (path) => this.#page.say({ type: 'navigate', path }));
    this.#page = new PageFrame(origin, title, () => this.#address(), {
      hear: (message) => this.#hear(message),
      miss: (cause, detail) => this.#miss(cause, detail),
    });
    this.#fit = new Fit(this.frame, this.#options);
    if (errorUi instanceof HTMLElement) errorUi.hidden = true;
    container.append(this.frame);
    this.#page.load();
  }

  /** The `iframe`. */
  get frame(): HTMLIFrameElement {
    return this.#page.element;
  }

  /** The path that the frame shows, or will show after a login. */
  get path(): string {
    return this.#place.path;
  }

  /**
   * Calls the listener at each event of this name.
   * @returns a function that removes the listener
   * @throws TypeError for an unknown event
   */
  on<Name extends keyof EmbeddedInstanceEvents>(
    name: Name,
    listener: (detail: EmbeddedInstanceEvents[Name]) => void,
  ): () => void {
    if (!EmbeddedInstance.events.includes(name)) throw new TypeError(`There is no event ${String(name)}`);
    const hear = (event: Event) => listener((event as CustomEvent<EmbeddedInstanceEvents[Name]>).detail);
    this.#events.addEventListener(name, hear);
    if (name === 'retry') this.#retryListeners.add(hear);
    if (name === 'retry') this.#greet();
    return () => {
      this.#events.removeEventListener(name, hear);
      if (this.#retryListeners.delete(hear)) this.#greet();
    };
  }

  /**
   * Signs in. The frame's view stays until the session is ready.
   * @param token a token, its promise, or a function that fetches one for the page's key (`jkt`). The function is not called if the
   * frame continues an earlier session
   * @throws EmbeddedInstanceError with the details of `login-failed`; Error if the frame is not in the page
   */
  login(token: TokenSource, redirectTo: string = this.path): Promise<EmbeddedSession> {
    if (!this.frame.isConnected) return Promise.reject(new Error('The frame is not in the page'));
    this.#place.path = redirectTo;
    return this.#begin('login', token) as Promise<EmbeddedSession>;
  }

  /**
   * Extends the session with a new token of the same user. Without a session it signs in.
   * @throws EmbeddedInstanceError with the details of `login-failed`
   */
  renew(token: TokenSource): Promise<EmbeddedSession> {
    if (this.#handle === undefined) return this.login(token);
    return this.#begin('renewal', token) as Promise<EmbeddedSession>;
  }

  /** Shows another path without a token. Invalid paths become `/`. */
  navigate(path: string): void {
    this.#place.path = path;
    this.#page.say({ type: 'navigate', path: this.path });
  }

  /**
   * Ends the session, and gives up a login in progress.
   * @param options `everywhere`: ends all sessions of this user that frames of your origin opened
   * @throws EmbeddedInstanceError with the details of `logout-failed`. The logout is repeated once the browser is online
   */
  logout({ everywhere = false }: { everywhere?: boolean } = {}): Promise<unknown> {
    return this.#begin('logout', '', everywhere);
  }

  /**
   * Changes options of the look, `title`, `redirectTo`, `minHeight`, `maxHeight` or `linkTemplate`. Undefined restores the default.
   * @throws TypeError for another option or a wrong value
   */
  configure(changes: ChangeableOptions): void {
    checkOptions(changes);
    for (const name of Object.keys(changes))
      if (!(name in CHANGEABLE || name in LOOKS)) throw new TypeError(`${name} cannot be changed`);
    Object.assign(this.#options, changes);
    if ('redirectTo' in changes) this.navigate(changes.redirectTo ?? '/');
    this.frame.title = this.#options.title;
    this.#fit.apply();
    this.#page.say({ type: 'appearance', ...this.#look() });
    if ('linkTemplate' in changes) this.#greet();
  }

  /** Removes the frame. The session continues until it expires. */
  remove(): void {
    this.#giveUp();
    this.#hideCard();
    this.#page.remove();
    this.#place.remove();
    this.#fit.remove();
  }

  #begin(during: Attempt['during'], token: TokenSource, everywhere = false): Promise<unknown> {
    this.#giveUp();
    const { loginTimeoutSeconds = 30 } = this.#options;
    const onEnd = (failure?: LoginFailure) => this.#note(during, failure);
    const attempt = new Attempt(during, loginTimeoutSeconds * 1000, onEnd, token, everywhere);
    this.#attempt = attempt;
    if (this.#greeting) this.#send(attempt, this.#greeting);
    else if (this.#page.isReady) this.#greet();
    else this.#page.load();
    return attempt.promise;
  }

  /** @param greeting the page's `ready`; another one follows if the page loads again */
  #send(attempt: Attempt, greeting: { jkt: string }): void {
    const { id, during, everywhere, token } = attempt;
    if (during === 'logout') {
      if (this.#handle) this.#page.say({ type: 'sign-out', id, everywhere });
      else attempt.succeed();
      return;
    }
    Promise.resolve()
      .then(() => (typeof token === 'function' ? token(greeting) : token))
      .then((value) => {
        if (typeof value === 'string' && value !== '') return value;
        throw new TypeError(`A token is a string, not ${value === '' ? 'empty' : typeof value}`);
      })
      .then(
        (value) => {
          if (attempt.isOver || greeting !== this.#greeting) return;
          if (during === 'renewal') this.#page.say({ type: 'renew', id, token: value });
          else this.#page.say({ type: 'login', id, token: value, path: this.path });
        },
        (cause: unknown) => attempt.fail({ error: 'no_token' }, cause),
      );
  }

  /** Reports the end of an attempt. */
  #note(during: Attempt['during'], failure: LoginFailure | undefined): void {
    this.#attempt = undefined;
    if (failure === undefined || failure.error === 'given_up') return;
    if (during === 'logout') {
      addEventListener('online', this.#leaveAgain);
      return this.#tell('logout-failed', failure);
    }
    this.#showFailure(during, failure);
    this.#tell('login-failed', { during, ...failure });
  }

  #giveUp(): void {
    this.#attempt?.fail({ error: 'given_up' });
    removeEventListener('online', this.#leaveAgain);
  }

  readonly #leaveAgain = () => void this.logout();

  /** Called if no page has loaded. */
  #miss(cause: string, detail?: string): void {
    const text = EXPLANATIONS[cause];
    if (text && this.#attempt) console.warn(`<embedded-instance>: ${cause}: ${text}`, detail ?? '');
    this.#greeting = undefined;
    this.#attempt?.fail({ error: cause });
  }

  #hear(message: MessageFromPage): void {
    switch (message.type) {
      case 'page-ready':
        return this.#meet();
      case 'token-needed':
        this.#forget();
        return this.#hearGreeting(message.jkt);
      case 'session-ready':
        return this.#hearReady(message);
      case 'session-ended':
        return this.#hearEnd(message);
      case 'login-failed':
      case 'renewal-failed':
      case 'sign-out-failed':
        return this.#hearFailure(message);
      default:
        return this.#hearView(message);
    }
  }

  #hearFailure({ id, error, requestId, retryAfterSeconds }: Message<FailureType>): void {
    if (id !== undefined && id !== this.#attempt?.id) return;
    this.#attempt?.fail({
      error,
      ...(requestId && { requestId }),
      ...(retryAfterSeconds && { retryAfterSeconds }),
    });
  }

  /** Handles the page's messages that answer no request. */
  #hearView(message: Message<'navigated' | 'resize' | 'retry' | 'session-expiring'>): void {
    switch (message.type) {
      case 'navigated':
        this.#fit.follow(this.path, message.path);
        this.#place.note(message.path, message.isStep);
        return this.#tell('navigated', { path: message.path });
      case 'resize':
        this.#fit.resize(message.height);
        return this.#tell('resize', { height: message.height });
      case 'session-expiring':
        return this.#tell('session-expiring', { expiresAt: message.expiresAt });
      case 'retry':
        return this.#tell('retry', {});
    }
  }

  /** Greets a page that has loaded: the first one, or another one after the frame was moved in the document. */
  #meet(): void {
    const isReload = this.#greeting !== undefined && this.#handle !== undefined;
    this.#greeting = undefined;
    if (this.#options.errorUi === undefined) this.#hideCard();
    this.#greet();
    if (isReload) this.#tell('reloaded', {});
  }

  #greet(): void {
    const { errorUi, address, height, linkTemplate = this.#place.linkTemplate } = this.#options;
    this.#page.say({
      type: 'hello',
      handle: this.#handle,
      path: this.path,
      canRetry: this.#canRetry(),
      retries: this.retries,
      showsFailures: errorUi === undefined,
      look: this.#look(),
      linkTemplate,
      address,
      height,
    });
  }

  #hearGreeting(jkt: string): void {
    this.#greeting = { jkt };
    if (this.#attempt) this.#send(this.#attempt, this.#greeting);
  }

  #hearReady({ id, jkt, handle, expiresAt, userId }: Message<'session-ready'>): void {
    const attempt = this.#attempt;
    this.#handle = handle;
    if (this.#options.userKey !== undefined) handles.set(this.#handleKey, handle);
    const isContinued =
      id === undefined && attempt?.during === 'login' && typeof attempt.token === 'function';
    this.#hideCard();
    if (attempt && (id === attempt.id || isContinued)) attempt.succeed({ expiresAt, userId });
    if (id === undefined) this.#hearGreeting(jkt);
    else if (this.#greeting) this.#greeting.jkt = jkt;
    this.#tell('session-ready', { expiresAt, userId });
  }

  #hearEnd({ id, reason }: Message<'session-ended'>): void {
    const wasThere = this.#handle !== undefined;
    this.#forget();
    if (wasThere) this.#tell('session-ended', { reason });
    if (id !== undefined && id === this.#attempt?.id) this.#attempt.succeed();
  }

  #forget(): void {
    this.#handle = undefined;
    handles.delete(this.#handleKey);
  }

  /** The page shows failures if it has loaded. */
  #showFailure(during: 'login' | 'renewal', failure: LoginFailure): void {
    const { errorUi } = this.#options;
    const isOwn = ['no_token', 'timeout'].includes(failure.error);
    if (errorUi === 'none') return;
    if (!errorUi && this.#page.isReady) {
      if (isOwn) this.#page.say({ type: 'failure', during, error: failure.error });
      return;
    }
    if (during === 'renewal') return;
    this.#hideCard();
    const retry = this.#canRetry() ? () => this.#tell('retry', {}) : undefined;
    this.#card = errorUi ?? cardOf(failure, this.#look(), this.retries, retry);
    this.#card.hidden = false;
    if (!errorUi) this.frame.before(this.#card);
    this.#fit.isHidden = this.#handle === undefined;
  }

  #hideCard(): void {
    const card = this.#card;
    if (!card) return;
    this.#card = undefined;
    const root = card.getRootNode() as Document | ShadowRoot;
    const hadFocus = card.contains(root.activeElement);
    if (card === this.#options.errorUi) card.hidden = true;
    else card.remove();
    this.#fit.isHidden = false;
    if (hadFocus) this.frame.focus();
  }

  #canRetry(): boolean {
    return this.#retryListeners.size > 0;
  }

  /** The look is in the address, so that the page has it before it is painted. */
  #address(): string {
    const query = new URLSearchParams({ host: self.origin });
    for (const [name, value] of Object.entries(this.#look())) if (value) query.set(name, String(value));
    return `/frame?${query}`;
  }

  #look(): Appearance {
    const options = { ...this.#options, lang: this.#options.lang ?? document.documentElement.lang };
    const names = Object.keys(LOOKS) as (keyof Appearance)[];
    return Object.fromEntries(names.map((name) => [name, options[name]]));
  }

  #tell<Name extends keyof EmbeddedInstanceEvents>(name: Name, detail: EmbeddedInstanceEvents[Name]): void {
    this.#events.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
