// The script for host pages, `/embed.js`: a frame of the instance, its login, and its session's life as events.
// The instance joins what the compiler makes of this folder, without imports and exports, in one scope of its own.
import { Attempt } from './attempt.js';
import {
  addHiddenFrame,
  drawLoading,
  failureCard,
  hasFocus,
  isBlank,
  named,
  newFrame,
  postInto,
} from './frames.js';
import { checkOptions } from './option-checks.js';
import type {
  Appearance,
  EmbeddedInstanceEvents,
  EmbeddedInstanceOptions,
  EmbeddedSession,
  FrameMessage,
  LoginFailure,
} from './options.js';

type FrameDetail = Omit<FrameMessage, 'type'>;

/**
 * One frame of the instance in a page of another origin. Tokens go to the instance by form posts only, never in an
 * address; messages are taken from the instance's frames and origin only.
 */
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
  /** A page of the instance answers at once; what has loaded and does not is none (milliseconds). */
  static readonly #answerMs = 3000;
  readonly #origin: string;
  readonly #timeoutMs: number;
  readonly #isAsHighAsPage: boolean;
  readonly #listeners = new Map<string, Set<(detail: never) => void>>();
  readonly #errorUi: 'none' | HTMLElement | undefined;
  #appearance: Appearance = {};
  #frame: HTMLIFrameElement;
  /** Says in the container why there is no page. */
  #card: HTMLElement | undefined;
  #attempt: Attempt | undefined;
  /** The last signed-in user, and until when. */
  #userId: string | undefined;
  #expiresAt = '';
  /** The present page: the target of the last login, or a later one. */
  #target = '/';
  /** Where the host page was scrolled to when the list was left, and whether it is to be there again. */
  #place = { top: 0, isDue: false };
  /** Whether its end was reported: two frames may report it. */
  #isOver = false;

  /** @throws TypeError for an option that is not as described */
  constructor(options: EmbeddedInstanceOptions = {} as EmbeddedInstanceOptions) {
    const {
      container,
      title,
      url = EmbeddedInstance.#home,
      height,
      loginTimeoutSeconds = 30,
      errorUi,
      ...appearance
    } = options;
    checkOptions({ ...appearance, container, title, url, height, loginTimeoutSeconds, errorUi });
    this.#origin = new URL(String(url)).origin;
    this.#timeoutMs = loginTimeoutSeconds * 1000;
    this.#isAsHighAsPage = height === 'auto';
    this.#errorUi = errorUi;
    if (errorUi instanceof HTMLElement) errorUi.hidden = true;
    this.#appearance = appearance;
    // As attributes, which any style of the host page outweighs.
    const frame = newFrame({ title, width: '100%', height: '600', frameBorder: '0' });
    this.#frame = frame;
    container.append(frame);
    drawLoading(frame, this.#look());
    frame.onload = () => this.#reload(frame);
    addEventListener('message', this.#hear);
    document.addEventListener('securitypolicyviolation', this.#hearPolicy);
  }

  /** The frame that is shown; a login puts another one in its place, with the same attributes. */
  get frame(): HTMLIFrameElement {
    return this.#frame;
  }

  /** The path of what the frame shows, or was to show, for `login`. */
  get path(): string {
    return this.#target;
  }

  /**
   * Calls the listener at each event of this name, until the function that is returned is called.
   * @throws TypeError for an event that there is not
   */
  on<Name extends keyof EmbeddedInstanceEvents>(
    name: Name,
    listener: (detail: EmbeddedInstanceEvents[Name]) => void,
  ): () => void {
    if (!EmbeddedInstance.events.includes(name)) throw new TypeError(`There is no event ${String(name)}`);
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    if (name === 'retry') this.#hello(this.#frame);
    return () => void listeners.delete(listener);
  }

  /**
   * Signs in with a new token and shows a page of the instance. What the frame shows stays until that page comes.
   * @param redirectTo a path of the instance
   * @throws EmbeddedInstanceError as `login-failed` says it; Error when the frame is not in the page
   */
  login(token: string | Promise<string>, redirectTo = '/'): Promise<EmbeddedSession> {
    return this.#open(redirectTo, (attempt, frame) =>
      this.#post(attempt, frame, token, this.#landing(redirectTo)),
    );
  }

  /**
   * Shows a page of the session that a login of before has opened for this user, without a token. What the frame shows stays until
   * that page comes.
   * @throws EmbeddedInstanceError `no_session` or `another_user` where that session is not there any more
   */
  resume(userId: string, redirectTo = '/'): Promise<EmbeddedSession> {
    return this.#open(redirectTo, (_, frame) => {
      frame.src = this.#origin + namingUser(this.#landing(redirectTo), userId);
    });
  }

  /** Begins a login in a new frame, which takes the place of the shown one once its page has come. */
  #open(
    redirectTo: string,
    begin: (attempt: Attempt, frame: HTMLIFrameElement) => void,
  ): Promise<EmbeddedSession> {
    const shown = this.#frame;
    if (!shown.isConnected) return Promise.reject(new Error('The frame is not in the page'));
    this.#target = redirectTo;
    // A new frame has no history yet, so that the step back never leads to the page of another login.
    const frame = named(shown.cloneNode() as HTMLIFrameElement);
    frame.removeAttribute('src');
    // Laid out as the shown one, unseen: where `display` changes while a page is coming, Chromium may never paint that page.
    const width = shown.offsetWidth || shown.parentElement?.clientWidth;
    const height = shown.offsetHeight || shown.height;
    frame.style.cssText = `position:fixed;visibility:hidden;width:${width}px;height:${height}px`;
    shown.after(frame);
    const attempt = this.#begin('login', frame);
    frame.onload = () => this.#greet(attempt, frame);
    begin(attempt, frame);
    return attempt.outcome.promise as Promise<EmbeddedSession>;
  }

  /**
   * Replaces the session by one of a new token of the same user, while the frame goes on showing what it shows. Where
   * that is no page of a session, after a failed login for example, it is a login.
   * @throws EmbeddedInstanceError as `login-failed` says it
   */
  renew(token: string | Promise<string>): Promise<EmbeddedSession> {
    if (this.#userId === undefined) return this.login(token, this.#target);
    const frame = addHiddenFrame();
    const attempt = this.#begin('renewal', frame);
    frame.onload = () => this.#greet(attempt, frame);
    this.#post(attempt, frame, token, '/renewed');
    return attempt.outcome.promise as Promise<EmbeddedSession>;
  }

  /**
   * Shows another page of the instance, as a link in the present one would; the session stays. While no user is signed in it is where
   * `renew` leads to.
   * @param path of the instance; anything else is `/`
   */
  navigate(path: string): void {
    this.#target = path;
    if (this.#userId !== undefined) this.#say(this.#frame, { type: 'navigate', path: this.#inner(path) });
  }

  /**
   * Ends the session with any page in the frame; gives up a login that is under way.
   * @throws EmbeddedInstanceError as `logout-failed` says it; it is tried again once the browser is online again
   */
  logout(): Promise<unknown> {
    const attempt = this.#begin('logout');
    this.#say(this.#frame, { type: 'sign-out' });
    // The page in the frame answers that it does so. Where it is another, or none, a frame of our own does it.
    attempt.after(300, () => this.#leaveUnseen(attempt));
    return attempt.outcome.promise;
  }

  /**
   * Changes how the page in the frame looks, now and at later logins.
   * @throws TypeError for an option that is not as described
   */
  configure(appearance: Appearance): void {
    checkOptions(appearance);
    Object.assign(this.#appearance, appearance);
    this.#say(this.#frame, { type: 'appearance', ...this.#look() });
  }

  /** Takes the frame out of the page. The session lives on until its end. */
  remove(): void {
    removeEventListener('message', this.#hear);
    document.removeEventListener('securitypolicyviolation', this.#hearPolicy);
    this.#giveUp();
    this.#removeCard();
    this.#frame.remove();
  }

  #look(): Appearance {
    const { lang = document.documentElement.lang } = this.#appearance;
    return { ...this.#appearance, lang };
  }

  /** An address of the instance with what the page there has to know before it is painted. */
  #dressed(path: string): string {
    const url = new URL(path, this.#origin);
    for (const [name, value] of Object.entries(this.#look()))
      if (value) url.searchParams.set(name, String(value));
    return url.href.slice(this.#origin.length);
  }

  /** The path itself where it is one of the instance, in WHATWG form; `/` otherwise. */
  #inner(path: string): string {
    const url = URL.canParse(path, this.#origin) ? new URL(path, this.#origin) : undefined;
    return url?.origin === this.#origin && path.startsWith('/') ? url.href.slice(this.#origin.length) : '/';
  }

  /** Only `/` reports its session: other targets are reached through a page that does. */
  #landing(target: string): string {
    const inner = this.#inner(target);
    if (new URL(inner, this.#origin).pathname === '/') return this.#dressed(inner);
    return this.#dressed(`/renewed?${String(new URLSearchParams({ to: inner }))}`);
  }

  /** Abandons what is in progress. */
  #begin(during: Attempt['during'], frame?: HTMLIFrameElement): Attempt {
    this.#giveUp();
    const attempt = new Attempt(during, frame);
    this.#limit(attempt, this.#timeoutMs, 'timeout');
    this.#attempt = attempt;
    return attempt;
  }

  #limit(attempt: Attempt, milliseconds: number, error: string): void {
    attempt.after(milliseconds, () => this.#fail(attempt, { error }));
  }

  #post(
    attempt: Attempt,
    frame: HTMLIFrameElement,
    token: string | Promise<string>,
    redirectTo: string,
  ): void {
    // In the address too: of a body that is too large the instance keeps nothing.
    const action = this.#origin + this.#dressed('/rest/auth/embed?answer=page');
    // With it the instance accepts a token of this user alone.
    const expected = attempt.during === 'renewal' ? { userId: this.#userId } : {};
    const post = (value: string) => {
      if (this.#attempt !== attempt) return;
      const fields = { token: value, redirectTo, answer: 'page', ...expected };
      if (!postInto(frame.name, action, fields)) this.#fail(attempt, { error: 'blocked' });
    };
    Promise.resolve(token)
      .then((value) => {
        if (typeof value === 'string' && value !== '') return value;
        throw new TypeError(`A token is a text, not ${value === '' ? 'empty' : typeof value}`);
      })
      .then(post, (cause: unknown) => this.#fail(attempt, { error: 'no_token' }, cause));
  }

  /** The policy of the host page may forbid the frame, or that forms are posted into it. */
  readonly #hearPolicy = (violation: SecurityPolicyViolationEvent): void => {
    const { blockedURI, disposition, effectiveDirective } = violation;
    const isEnforced = disposition === 'enforce' && /^(form-action|frame-src)$/.test(effectiveDirective);
    if (this.#attempt && isEnforced && blockedURI.startsWith(this.#origin))
      this.#fail(this.#attempt, { error: 'blocked' });
  };

  /** Something has loaded in the frame of an attempt: asks whether it is a page of the instance. */
  #greet(attempt: Attempt, frame: HTMLIFrameElement): void {
    if (this.#attempt !== attempt || isBlank(frame)) return;
    this.#limit(attempt, EmbeddedInstance.#answerMs, 'unreachable');
    attempt.after(300, () => void this.#probe(attempt));
    this.#hello(frame);
  }

  /** Makes the page in the frame answer; it offers another login where there is a listener for it. */
  #hello(frame: HTMLIFrameElement): void {
    this.#say(frame, { type: 'hello', canRetry: !!this.#listeners.get('retry')?.size });
  }

  /** Asks by itself whether the instance can be reached, where the policy of the host page lets it. */
  async #probe(attempt: Attempt): Promise<void> {
    let isForbidden = false;
    const note = () => (isForbidden = true);
    document.addEventListener('securitypolicyviolation', note);
    try {
      await fetch(`${this.#origin}/embed.js`, { mode: 'no-cors', cache: 'no-store' });
    } catch {
      // A browser may say that the policy forbids it a little later than that it did not work.
      await new Promise((resolve) => setTimeout(resolve, 200));
      if (!isForbidden && attempt.timers.length > 1) this.#fail(attempt, { error: 'unreachable' });
    }
    document.removeEventListener('securitypolicyviolation', note);
  }

  /** Puts the frame of a login in the place of the one that was shown. */
  #show(frame: HTMLIFrameElement): void {
    const shown = this.#frame;
    if (frame === shown) return;
    const hadFocus = hasFocus(shown);
    frame.style.cssText = shown.style.cssText;
    shown.remove();
    this.#frame = frame;
    frame.onload = () => this.#reload(frame);
    if (hadFocus) frame.focus();
  }

  /**
   * A frame that is moved in the document loses its page: browsers put a blank one there. Shows the instance again, where
   * a page of it was shown.
   */
  #reload(frame: HTMLIFrameElement): void {
    if (!isBlank(frame)) return this.#hello(frame);
    // Firefox puts another blank document in the place of the first.
    if (this.#userId === undefined) return drawLoading(frame, this.#look());
    // Else the page would be that of the user who is signed in by now.
    const address = namingUser(this.#landing(this.#target), this.#userId);
    frame.contentWindow?.location.replace(this.#origin + address);
    this.#dispatch('reloaded', {});
  }

  #fail(attempt: Attempt, failure: LoginFailure, cause?: unknown): void {
    if (this.#attempt !== attempt) return;
    const { during } = attempt;
    this.#end();
    if (during === 'login') this.#showCard(failure);
    attempt.reject(failure, cause);
    if (during !== 'logout') return this.#dispatch('login-failed', { during, ...failure });
    addEventListener('online', this.#leaveAgain);
    this.#dispatch('logout-failed', failure);
  }

  #succeed(session?: EmbeddedSession): void {
    this.#end()?.outcome.resolve(session);
  }

  #giveUp(): void {
    this.#end()?.reject({ error: 'given_up' });
    removeEventListener('online', this.#leaveAgain);
  }

  /** Ends what is in progress, successful or not, and returns it. */
  #end(): Attempt | undefined {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    attempt?.timers.forEach(clearTimeout);
    if (attempt?.frame !== this.#frame) attempt?.frame?.remove();
    return attempt;
  }

  #leaveUnseen(attempt: Attempt): void {
    const frame = addHiddenFrame();
    attempt.frame = frame;
    frame.onload = () => {
      this.#say(frame, { type: 'sign-out', userId: this.#userId });
      this.#limit(attempt, EmbeddedInstance.#answerMs, 'unreachable');
    };
    frame.src = `${this.#origin}/sign-out`;
  }

  readonly #leaveAgain = () => void this.logout();

  readonly #hear = ({ origin, source, data }: MessageEvent<FrameMessage>): void => {
    if (origin !== this.#origin || !source) return;
    const { type, ...detail } = data;
    if (source === this.#attempt?.frame?.contentWindow) this.#hearAttempt(this.#attempt, type, detail);
    else if (source === this.#frame.contentWindow) this.#hearPage(type, detail);
  };

  #hearAttempt(attempt: Attempt, type: string, detail: FrameDetail): void {
    attempt.answer();
    const { reason, ...failure } = detail;
    if (type === 'login-failed') this.#fail(attempt, failure);
    if (type === 'page-loaded') this.#fail(attempt, { error: 'no_session' });
    if (type === 'session-ready') this.#hearReady(detail);
    if (type === 'sign-out-failed') this.#fail(attempt, { error: 'unreachable' });
    if (type === 'no-session') this.#succeed();
    if (type !== 'session-ended') return;
    if (attempt.during === 'logout') this.#dispatch(type, { reason });
    else if (reason === 'another-user') this.#fail(attempt, { error: 'another_user' });
  }

  #hearPage(type: string, detail: FrameDetail): void {
    const attempt = this.#attempt;
    if (attempt?.during === 'logout' && type.startsWith('sign')) this.#hearAttempt(attempt, type, detail);
    // Messages of the previous page are out of date while another login is under way, but for one.
    if (attempt?.during === 'login' && type !== 'retry') return;
    if (type === 'session-ready') return this.#hearReady(detail);
    if (type === 'navigated') this.#follow(detail.path);
    if (type === 'resize') this.#fit(detail.height);
    if (/^session-|^navigated$|^resize$|^retry$/.test(type)) this.#dispatch(type, detail);
  }

  #hearReady({ expiresAt, userId, isRenewal }: FrameDetail): void {
    const attempt = this.#attempt;
    if (attempt?.during === 'login' && attempt.frame) {
      this.#removeCard();
      this.#show(attempt.frame);
    } else if (userId !== this.#userId && this.#userId !== undefined) {
      // Only a login may change the user: the page has found the session of another one.
      if (attempt?.during === 'renewal') this.#fail(attempt, { error: 'another_user' });
      return this.#dispatch('session-ended', { reason: 'another-user' });
    }
    if (attempt?.during !== 'logout') this.#succeed({ expiresAt, userId });
    // Both the frame of a renewal and the visible one report it.
    if (isRenewal && this.#expiresAt === expiresAt) return;
    this.#userId = userId;
    this.#expiresAt = expiresAt;
    this.#isOver = false;
    this.#dispatch('session-ready', { expiresAt, userId });
  }

  /** The page in the frame is about to show a part of itself that is higher or lower. */
  #follow(path: string): void {
    const isList = !path.includes('#');
    if (!isList && !this.#target.includes('#')) this.#place.top = scrollY;
    this.#place.isDue = isList;
    this.#target = path;
    if (this.#isAsHighAsPage && !isList && this.#frame.getBoundingClientRect().top < 0)
      this.#frame.scrollIntoView();
  }

  #fit(height: number): void {
    if (!this.#isAsHighAsPage || height === 0) return;
    this.#frame.style.height = `${height}px`;
    if (this.#place.isDue) scrollTo(scrollX, this.#place.top);
    this.#place.isDue = false;
  }

  #dispatch(name: string, detail: object): void {
    if (name === 'session-ended') {
      if (this.#attempt?.during === 'logout') this.#succeed();
      if (this.#isOver) return;
      this.#isOver = true;
    }
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        listener(detail as never);
      } catch (error) {
        // Shown as any uncaught error; the listeners that follow are called.
        reportError(error);
      }
    }
  }

  #say({ contentWindow }: HTMLIFrameElement, message: object): void {
    contentWindow?.postMessage(message, this.#origin);
  }

  /** What the frame shows stays below the card, if it shows anything. */
  #showCard(failure: LoginFailure): void {
    const errorUi = this.#errorUi;
    this.#removeCard();
    if (errorUi === 'none') return;
    const retry = this.#listeners.get('retry')?.size ? () => this.#dispatch('retry', {}) : undefined;
    this.#card = errorUi ?? failureCard(failure, this.#look(), retry);
    this.#card.hidden = false;
    if (!errorUi) this.#frame.before(this.#card);
    if (this.#userId === undefined) this.#frame.style.display = 'none';
  }

  #removeCard(): void {
    const card = this.#card;
    if (card === undefined) return;
    const hadFocus = hasFocus(card);
    if (card === this.#errorUi) card.hidden = true;
    else card.remove();
    this.#card = undefined;
    this.#frame.style.display = '';
    if (hadFocus) this.#frame.focus();
  }
}

/** Frames share one cookie, so the address says for whom a page is. */
function namingUser(address: string, userId: string): string {
  return `${address}${address.includes('#') ? '&' : '#'}user=${encodeURIComponent(userId)}`;
}
