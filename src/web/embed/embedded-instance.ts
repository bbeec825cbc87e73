// The script for host pages, `/embed.js`: a frame of the instance, its login, and its session's life as events.
// Classic scripts without imports: the instance joins what the compiler makes of them, in one scope of its own.

/**
 * One frame of the instance in a page of another origin. Tokens go to the instance by form posts only, never in an
 * address; messages are taken from the instance's frames and origin only.
 */
class EmbeddedInstance {
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
  static readonly #home: string | undefined = (document.currentScript as HTMLScriptElement | null)?.src;
  /** A page of the instance answers at once; what has loaded and does not is none (milliseconds). */
  static readonly #answerMs = 3000;
  readonly #origin: string;
  readonly #timeoutMs: number;
  readonly #isAsHighAsPage: boolean;
  readonly #listeners = new Map<string, Set<(detail: never) => void>>();
  #appearance: Appearance = { lang: document.documentElement.lang };
  #frame: HTMLIFrameElement;
  /** Says in the container that the instance did not answer. */
  #card: HTMLElement | undefined;
  #attempt: Attempt | undefined;
  /** The last signed-in user, and until when. */
  #userId: string | undefined;
  #expiresAt = '';
  /** The present page: the target of the last login, or a later one. */
  #target = '/';
  /** Where the host page was scrolled to when the list was left, and whether it is to be there again. */
  #place = { top: 0, isDue: false };
  /** Whether the frame shows a page of a session, and not that of a refused login. */
  #isSessionShown = false;
  /** Whether its end was reported: two frames may report it. */
  #isOver = false;

  /** @throws TypeError for an option that is not as described */
  constructor(options: EmbeddedInstanceOptions) {
    const {
      container,
      title,
      url = EmbeddedInstance.#home,
      height,
      loginTimeoutSeconds = 30,
      ...appearance
    } = options;
    checkOptions({ ...appearance, container, title, url, height, loginTimeoutSeconds });
    this.#origin = new URL(String(url)).origin;
    this.#timeoutMs = loginTimeoutSeconds * 1000;
    this.#isAsHighAsPage = height === 'auto';
    Object.assign(this.#appearance, appearance);
    // As attributes, which any style of the host page outweighs.
    const frame = newFrame({ title, width: '100%', height: '600', frameBorder: '0' });
    this.#frame = frame;
    container.append(frame);
    drawLoading(frame, this.#appearance);
    frame.onload = () => this.#reload(frame);
    addEventListener('message', this.#hear);
  }

  /** The frame that is shown; a login puts another one in its place, with the same attributes. */
  get frame(): HTMLIFrameElement {
    return this.#frame;
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
    const shown = this.#frame;
    if (!shown.isConnected) return Promise.reject(new Error('The frame is not in the page'));
    this.#removeCard();
    this.#target = redirectTo;
    // A new frame has no history yet, so that the step back never leads to the page of another login.
    const frame = named(shown.cloneNode() as HTMLIFrameElement);
    frame.removeAttribute('src');
    // Laid out as the shown one, unseen: where `display` changes while a page is coming, Chromium may never paint that page.
    const { offsetWidth, offsetHeight } = shown;
    frame.style.cssText = `position:fixed;visibility:hidden;width:${offsetWidth}px;height:${offsetHeight}px`;
    shown.after(frame);
    return this.#signIn(this.#begin('login', frame), frame, token, this.#landing(redirectTo));
  }

  /**
   * Replaces the session by one of a new token of the same user, while the frame goes on showing what it shows. Where
   * that is no page of a session, after a failed login for example, it is a login.
   * @throws EmbeddedInstanceError as `login-failed` says it
   */
  renew(token: string | Promise<string>): Promise<EmbeddedSession> {
    if (!this.#isSessionShown) return this.login(token, this.#target);
    const frame = addHiddenFrame();
    return this.#signIn(this.#begin('renewal', frame), frame, token, '/renewed');
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
    this.#say(this.#frame, { type: 'appearance', ...this.#appearance });
  }

  /** Takes the frame out of the page. The session lives on until its end. */
  remove(): void {
    removeEventListener('message', this.#hear);
    this.#giveUp();
    this.#removeCard();
    this.#frame.remove();
  }

  /** An address of the instance with what the page there has to know before it is painted. */
  #dressed(path: string): string {
    const url = new URL(path, this.#origin);
    for (const [name, value] of Object.entries(this.#appearance))
      if (value) url.searchParams.set(name, String(value));
    return url.href.slice(this.#origin.length);
  }

  /** Only `/` reports its session: other targets are reached through a page that does. */
  #landing(target: string): string {
    const { origin, pathname, href } = new URL(
      URL.canParse(target, this.#origin) ? target : '/',
      this.#origin,
    );
    if (origin !== this.#origin) return this.#dressed('/');
    if (pathname === '/') return this.#dressed(href);
    return this.#dressed(`/renewed?${String(new URLSearchParams({ to: target }))}`);
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
    attempt.after(milliseconds, () => this.#fail(attempt, error));
  }

  #signIn(
    attempt: Attempt,
    frame: HTMLIFrameElement,
    token: string | Promise<string>,
    redirectTo: string,
  ): Promise<EmbeddedSession> {
    frame.onload = () => this.#greet(attempt, frame);
    Promise.resolve(token).then(
      (value) => this.#post(attempt, frame, value, redirectTo),
      () => this.#fail(attempt, 'no_token'),
    );
    return attempt.outcome.promise as Promise<EmbeddedSession>;
  }

  #post(attempt: Attempt, frame: HTMLIFrameElement, token: string, redirectTo: string): void {
    if (this.#attempt !== attempt) return;
    // In the address too: of a body that is too large the instance keeps nothing.
    const action = this.#origin + this.#dressed('/rest/auth/embed?answer=page');
    // With it the instance accepts a token of this user alone.
    const expected = attempt.during === 'renewal' ? { userId: this.#userId } : {};
    postInto(frame.name, action, { token, redirectTo, answer: 'page', ...expected });
  }

  /** Something has loaded in the frame of an attempt: asks whether it is a page of the instance. */
  #greet(attempt: Attempt, frame: HTMLIFrameElement): void {
    if (this.#attempt !== attempt || isBlank(frame)) return;
    this.#limit(attempt, EmbeddedInstance.#answerMs, 'unreachable');
    attempt.after(300, () => void this.#probe(attempt));
    this.#hello(frame);
  }

  /** Makes the page in the frame answer; it offers another login where somebody listens to that. */
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
      if (!isForbidden && attempt.timers.length > 1) this.#fail(attempt, 'unreachable');
    }
    document.removeEventListener('securitypolicyviolation', note);
  }

  /** Puts the frame of a login in the place of the one that was shown. */
  #show(frame: HTMLIFrameElement): void {
    const shown = this.#frame;
    if (frame === shown) return;
    const hadFocus = document.activeElement === shown;
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
    if (this.#userId === undefined) return drawLoading(frame, this.#appearance);
    const path = this.#landing(this.#target);
    // Without it the page would be that of whoever is signed in by now.
    const user = `${path.includes('#') ? '&' : '#'}user=${this.#userId}`;
    frame.contentWindow?.location.replace(this.#origin + path + user);
    this.#dispatch('reloaded', {});
  }

  #fail(attempt: Attempt, error: string): void {
    if (this.#attempt !== attempt) return;
    const { during, frame } = attempt;
    const isShown = frame === this.#frame;
    if (isShown) this.#isSessionShown = false;
    this.#end();
    if (!isShown && during === 'login') this.#showCard(error);
    attempt.reject(error);
    if (during !== 'logout') return this.#dispatch('login-failed', { during, error });
    addEventListener('online', this.#leaveAgain);
    this.#dispatch('logout-failed', { error });
  }

  #succeed(session?: EmbeddedSession): void {
    this.#end()?.outcome.resolve(session);
  }

  #giveUp(): void {
    this.#end()?.reject('given_up');
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

  #hearAttempt(attempt: Attempt, type: string, detail: Omit<FrameMessage, 'type'>): void {
    if (attempt.during === 'login' && attempt.frame) this.#show(attempt.frame);
    attempt.answer();
    if (type === 'login-failed') this.#fail(attempt, detail.error);
    if (type === 'page-loaded') this.#fail(attempt, 'no_session');
    if (type === 'session-ready') this.#hearReady(detail);
    if (type === 'sign-out-failed') this.#fail(attempt, 'unreachable');
    if (type === 'no-session') this.#succeed();
    if (type !== 'session-ended') return;
    if (attempt.during === 'logout') this.#dispatch(type, { reason: detail.reason });
    else if (detail.reason === 'another-user') this.#fail(attempt, 'another_user');
  }

  #hearPage(type: string, detail: Omit<FrameMessage, 'type'>): void {
    const attempt = this.#attempt;
    if (attempt?.during === 'logout' && type.startsWith('sign')) this.#hearAttempt(attempt, type, detail);
    // Messages of the previous page are out of date while another login is under way.
    if (attempt?.during === 'login') return;
    if (type === 'session-ready') return this.#hearReady(detail);
    if (type === 'navigated') this.#follow(detail.path);
    if (type === 'resize') this.#fit(detail.height);
    if (/^session-|^navigated$|^resize$|^retry$/.test(type)) this.#dispatch(type, detail);
  }

  #hearReady({ expiresAt, userId, isRenewal }: Omit<FrameMessage, 'type'>): void {
    const attempt = this.#attempt;
    // Only a login may change the user: a page that has found somebody else's session is none of ours.
    if (attempt?.during !== 'login' && userId !== this.#userId && this.#userId !== undefined) {
      if (attempt?.during === 'renewal') this.#fail(attempt, 'another_user');
      return this.#dispatch('session-ended', { reason: 'another-user' });
    }
    if (attempt?.during !== 'logout') this.#succeed({ expiresAt, userId });
    // Both the frame of a renewal and the visible one report it.
    if (isRenewal && this.#expiresAt === expiresAt) return;
    this.#isSessionShown = true;
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
  #showCard(error: string): void {
    const retry = this.#listeners.get('retry')?.size ? () => this.#dispatch('retry', {}) : undefined;
    this.#card = failureCard(error, this.#appearance, retry);
    this.#frame.before(this.#card);
    if (isBlank(this.#frame)) this.#frame.style.display = 'none';
  }

  #removeCard(): void {
    if (this.#card === undefined) return;
    const hadFocus = this.#card.contains(document.activeElement);
    this.#card.remove();
    this.#card = undefined;
    this.#frame.style.display = '';
    if (hadFocus) this.#frame.focus();
  }
}

// The one name that the host page sees.
Object.assign(globalThis, { EmbeddedInstance });
