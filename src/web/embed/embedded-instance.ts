// The script for host pages, `/embed.js`: a frame of the instance, its login, and its session's life as events.
// A classic script without imports, so that the compiler's output is what browsers load.

/** A login, renewal or sign-out that is under way. */
interface Attempt {
  during: EmbeddedInstanceError['during'];
  /** The frame of its own; a sign-out has one only where the page that is shown does not do it. */
  frame: HTMLIFrameElement | undefined;
  outcome: PromiseWithResolvers<EmbeddedSession | undefined>;
  /** First that of the limit, then those that wait for an answer of what has loaded. */
  timers: number[];
}

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
  static #count = 0;
  /** A page of the instance answers at once; what has loaded and does not is none (milliseconds). */
  static readonly #answerMs = 3000;
  /** What is said where no page of the instance can say it. */
  static readonly #words: Record<string, [loading: string, failed: string, reason: string, retry: string]> = {
    en: ['Loading …', 'Not available at the moment.', 'Reason:', 'Try again'],
    de: ['Wird geladen …', 'Zurzeit nicht verfügbar.', 'Grund:', 'Noch einmal versuchen'],
  };

  /** What each option must be; there are no others. */
  static readonly #checks: Record<string, [isGood: (value: unknown) => boolean, must: string]> = {
    container: [(value) => value instanceof Element, 'be an element'],
    title: [(value) => typeof value === 'string' && value.trim() !== '', 'be a text'],
    url: [(value) => URL.canParse(String(value)), 'be an absolute URL'],
    height: [(value) => value === 'auto', 'be auto'],
    loginTimeoutSeconds: [(value) => typeof value === 'number' && value > 0, 'be more than 0'],
    theme: [(value) => ['light', 'dark', 'auto'].includes(String(value)), 'be light, dark or auto'],
    accent: [(value) => /^#[\da-f]{6}$/i.test(String(value)), 'be a colour like #2f5bd0'],
    background: [
      (value) => /^(#[\da-f]{6}|transparent)$/i.test(String(value)),
      'be a colour like #2f5bd0 or transparent',
    ],
    font: [(value) => /^[\p{L}\d ,'"_-]{1,200}$/u.test(String(value)), 'be names of fonts'],
    lang: [(value) => typeof value === 'string', 'be a language tag'],
    hideHeader: [(value) => typeof value === 'boolean', 'be true or false'],
    fullWidth: [(value) => typeof value === 'boolean', 'be true or false'],
  };

  readonly #origin: string;
  readonly #timeoutMs: number;
  readonly #isAsHighAsPage: boolean;
  readonly #listeners = new Map<string, Set<(detail: never) => void>>();
  #appearance: Appearance = { lang: document.documentElement.lang };
  #frame: HTMLIFrameElement;
  /** Says in the container that the instance did not answer. */
  #card: HTMLElement | undefined;
  #attempt: Attempt | undefined;
  /** Who was signed in last, until when. */
  #userId: string | undefined;
  #expiresAt = '';
  /** What the last login led to, or where its page has gone since. */
  #target = '/';
  /** Where the host page was scrolled to when the list was left, and whether it is to be there again. */
  #place = { top: 0, isDue: false };
  /** Whether the frame shows a page of a session, and not that of a refused login. */
  #isSessionShown = false;
  /** Whether its end has been told: two frames may tell it. */
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
    EmbeddedInstance.#check({ ...appearance, container, title, url, height, loginTimeoutSeconds });
    this.#origin = new URL(String(url)).origin;
    this.#timeoutMs = loginTimeoutSeconds * 1000;
    this.#isAsHighAsPage = height === 'auto';
    Object.assign(this.#appearance, appearance);
    const frame = document.createElement('iframe');
    // As attributes, which any style of the host page outweighs.
    Object.assign(frame, {
      name: EmbeddedInstance.#newName(),
      title,
      width: '100%',
      height: '600',
      frameBorder: '0',
    });
    this.#frame = frame;
    container.append(frame);
    this.#drawLoading();
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
    const frame = shown.cloneNode() as HTMLIFrameElement;
    frame.removeAttribute('src');
    frame.name = EmbeddedInstance.#newName();
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
    const frame = this.#addHidden();
    return this.#signIn(this.#begin('renewal', frame), frame, token, '/renewed');
  }

  /**
   * Ends the session, whatever the frame shows; a login that is under way is given up.
   * @throws EmbeddedInstanceError as `logout-failed` says it; it is tried again once the browser is online again
   */
  logout(): Promise<unknown> {
    const attempt = this.#begin('logout');
    this.#say(this.#frame, { type: 'sign-out' });
    // The page in the frame answers that it does so. Where it is another, or none, a frame of our own does it.
    attempt.timers.push(setTimeout(() => this.#leaveUnseen(attempt), 300));
    return attempt.outcome.promise;
  }

  /**
   * Changes how the page in the frame looks, now and at later logins.
   * @throws TypeError for an option that is not as described
   */
  configure(appearance: Appearance): void {
    EmbeddedInstance.#check({ ...appearance });
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

  static #check(options: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(options)) {
      const check = EmbeddedInstance.#checks[name];
      if (check === undefined) throw new TypeError(`There is no option ${name}`);
      const [isGood, must] = check;
      const isOptional = name !== 'container' && name !== 'title';
      if (!(isOptional && value === undefined) && !isGood(value)) throw new TypeError(`${name} must ${must}`);
    }
  }

  static #failure(during: EmbeddedInstanceError['during'], error: string): EmbeddedInstanceError {
    return Object.assign(new Error(`The ${during} failed: ${error}`), { during, error });
  }

  /** An address of the instance with what the page there has to know before it is painted. */
  #dressed(path: string): string {
    const url = new URL(path, this.#origin);
    for (const [name, value] of Object.entries(this.#appearance))
      if (value) url.searchParams.set(name, String(value));
    return url.href.slice(this.#origin.length);
  }

  /** Only `/` tells of its session by itself: to other targets the way leads over a page that does. */
  #landing(target: string): string {
    const { origin, pathname, href } = new URL(
      URL.canParse(target, this.#origin) ? target : '/',
      this.#origin,
    );
    if (origin !== this.#origin) return this.#dressed('/');
    if (pathname === '/') return this.#dressed(href);
    return this.#dressed(`/renewed?${String(new URLSearchParams({ to: target }))}`);
  }

  /** What was under way makes room. */
  #begin(during: Attempt['during'], frame?: HTMLIFrameElement): Attempt {
    this.#giveUp();
    const outcome: Attempt['outcome'] = Promise.withResolvers();
    // It need not be looked at: events say the same.
    outcome.promise.catch(() => undefined);
    const attempt: Attempt = { during, frame, outcome, timers: [] };
    this.#limit(attempt, this.#timeoutMs, 'timeout');
    this.#attempt = attempt;
    return attempt;
  }

  #limit(attempt: Attempt, milliseconds: number, error: string): void {
    attempt.timers.push(setTimeout(() => this.#fail(attempt, error), milliseconds));
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
    const form = document.createElement('form');
    // Of too large a body nothing is kept.
    const action = this.#origin + this.#dressed('/rest/auth/embed?answer=page');
    Object.assign(form, { method: 'post', action, target: frame.name });
    const fields = { token, redirectTo, answer: 'page' };
    // The instance takes the token of no other user then.
    if (attempt.during === 'renewal') Object.assign(fields, { userId: this.#userId });
    for (const [name, value] of Object.entries(fields)) {
      form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
    }
    document.body.append(form);
    form.submit();
    form.remove();
  }

  /** Something has loaded in the frame of an attempt: asks whether it is a page of the instance. */
  #greet(attempt: Attempt, frame: HTMLIFrameElement): void {
    if (this.#attempt !== attempt || EmbeddedInstance.#isBlank(frame)) return;
    this.#limit(attempt, EmbeddedInstance.#answerMs, 'unreachable');
    attempt.timers.push(setTimeout(() => void this.#probe(attempt), 300));
    this.#say(frame, { type: 'hello' });
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
    if (!EmbeddedInstance.#isBlank(frame)) return this.#say(frame, { type: 'hello' });
    // Firefox puts another blank document in the place of the first.
    if (this.#userId === undefined) return this.#drawLoading();
    frame.contentWindow?.location.replace(this.#origin + this.#landing(this.#target));
    this.#tell('reloaded', {});
  }

  #fail(attempt: Attempt, error: string): void {
    if (this.#attempt !== attempt) return;
    const { during, frame, outcome } = attempt;
    const isShown = frame === this.#frame;
    if (isShown) this.#isSessionShown = false;
    this.#end();
    if (!isShown && during === 'login') this.#drawCard(error);
    outcome.reject(EmbeddedInstance.#failure(during, error));
    if (during !== 'logout') return this.#tell('login-failed', { during, error });
    addEventListener('online', this.#leaveAgain);
    this.#tell('logout-failed', { error });
  }

  #succeed(session?: EmbeddedSession): void {
    const { outcome } = this.#attempt ?? {};
    this.#end();
    outcome?.resolve(session);
  }

  #giveUp(): void {
    const { during = 'login', outcome } = this.#attempt ?? {};
    this.#end();
    outcome?.reject(EmbeddedInstance.#failure(during, 'given_up'));
    removeEventListener('online', this.#leaveAgain);
  }

  /** Ends what is under way, be it with success or not. */
  #end(): void {
    const { frame, timers = [] } = this.#attempt ?? {};
    this.#attempt = undefined;
    timers.forEach(clearTimeout);
    if (frame !== this.#frame) frame?.remove();
  }

  #leaveUnseen(attempt: Attempt): void {
    const frame = this.#addHidden();
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
    // It is a page of the instance: from now on only the limit counts.
    attempt.timers.splice(1).forEach(clearTimeout);
    if (type === 'login-failed') this.#fail(attempt, detail.error);
    if (type === 'page-loaded') this.#fail(attempt, 'no_session');
    if (type === 'session-ready') this.#hearReady(detail);
    if (type === 'sign-out-failed') this.#fail(attempt, 'unreachable');
    if (type === 'no-session') this.#succeed();
    if (type === 'session-ended') this.#tell(type, { reason: detail.reason });
  }

  #hearPage(type: string, detail: Omit<FrameMessage, 'type'>): void {
    const attempt = this.#attempt;
    if (attempt?.during === 'logout' && type.startsWith('sign')) this.#hearAttempt(attempt, type, detail);
    // What the page of before has to say while another login is under way is out of date.
    if (attempt?.during === 'login') return;
    if (type === 'session-ready') return this.#hearReady(detail);
    if (type === 'navigated') this.#follow(detail.path);
    if (type === 'resize') this.#fit(detail.height);
    if (/^session-|^navigated$|^resize$/.test(type)) this.#tell(type, detail);
  }

  #hearReady({ expiresAt, userId, isRenewal }: Omit<FrameMessage, 'type'>): void {
    if (this.#attempt?.during !== 'logout') this.#succeed({ expiresAt, userId });
    // Both the frame of a renewal and the one that is shown tell of it.
    if (isRenewal && this.#expiresAt === expiresAt) return;
    this.#isSessionShown = true;
    this.#userId = userId;
    this.#expiresAt = expiresAt;
    this.#isOver = false;
    this.#tell('session-ready', { expiresAt, userId });
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

  #tell(name: string, detail: object): void {
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

  get #language() {
    const { lang = '' } = this.#appearance;
    return EmbeddedInstance.#words[lang.slice(0, 2)] ?? EmbeddedInstance.#words['en']!;
  }

  /** Writes into a frame that nothing was loaded into yet that something will be. */
  #drawLoading(): void {
    const { lang = '', theme = 'auto' } = this.#appearance;
    const { documentElement: root, body } = this.#frame.contentDocument!;
    root.lang = lang;
    root.style.colorScheme = theme === 'auto' ? 'light dark' : theme;
    body.style.cssText = 'font:1rem system-ui;text-align:center;margin:3rem';
    body.role = 'status';
    [body.textContent] = this.#language;
  }

  /** Says above the frame that the instance did not answer. What the frame shows stays, if it shows anything. */
  #drawCard(error: string): void {
    const [, failed, reason, retry] = this.#language;
    const card = document.createElement('div');
    card.role = 'alert';
    card.style.cssText = 'text-align:center;padding:1.5rem;border:1px solid';
    card.append(failed, document.createElement('br'), `${reason} ${error}`);
    if (this.#listeners.get('retry')?.size) {
      const button = Object.assign(document.createElement('button'), { type: 'button', textContent: retry });
      button.onclick = () => this.#tell('retry', {});
      card.append(document.createElement('br'), button);
    }
    this.#card = card;
    this.#frame.before(card);
    if (EmbeddedInstance.#isBlank(this.#frame)) this.#frame.style.display = 'none';
  }

  #removeCard(): void {
    if (this.#card === undefined) return;
    const hadFocus = this.#card.contains(document.activeElement);
    this.#card.remove();
    this.#card = undefined;
    this.#frame.style.display = '';
    if (hadFocus) this.#frame.focus();
  }

  #addHidden(): HTMLIFrameElement {
    const frame = document.createElement('iframe');
    Object.assign(frame, { name: EmbeddedInstance.#newName(), hidden: true });
    document.body.append(frame);
    return frame;
  }

  /** A form finds its frame by name, so no two frames of a page may share one. */
  static #newName(): string {
    return `embedded-instance-${++EmbeddedInstance.#count}`;
  }

  /** Some browsers tell that an empty frame has loaded; what another origin has put there cannot be looked at. */
  static #isBlank({ contentWindow }: HTMLIFrameElement): boolean {
    try {
      return contentWindow?.location.href === 'about:blank';
    } catch {
      return false;
    }
  }
}

// A class alone is known to other scripts by name, but not as a member of `window`.
Object.assign(globalThis, { EmbeddedInstance });
