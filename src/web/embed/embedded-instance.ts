// The script for host pages, `/embed.js`: a frame of the instance, its login, and its session's life as events.
// A classic script without imports, so that the compiler's output is what browsers load.

/** How the page in the frame looks; what is left out is left to the instance. */
interface Appearance {
  /** `auto`, unless given: as the browser is set. */
  theme?: 'light' | 'dark' | 'auto';
  /** Colour of buttons and links, as `#rrggbb`; the page makes it lighter or darker where it could not be read. */
  accent?: string;
  /** Language tag; that of the host page if left out. English where the instance does not speak it. */
  lang?: string;
  /** Whether title, user and sign-out button are left to the host page. */
  hideHeader?: boolean;
}

/** How to make a frame. */
interface EmbeddedInstanceOptions extends Appearance {
  /** The element that the frame is put into; style the `iframe` there. */
  container: Element;
  /** What assistive technology calls the frame. */
  title: string;
  /** Origin of the instance; that of this script if left out. */
  url?: string;
  /** How long a login or renewal may take until it is given up, in seconds; 30 if left out. */
  loginTimeoutSeconds?: number;
}

/** The events, with what their listeners are told. */
interface EmbeddedInstanceEvents {
  /** Somebody is signed in, by `login` or anew by `renew`. `expiresAt` is ISO 8601, `userId` the instance's own id. */
  'session-ready': { expiresAt: string; userId: string };
  /** The session ends in 60 seconds (a short one after half its time): time to fetch a token and `renew`. */
  'session-expiring': { expiresAt: string };
  /**
   * `revoked`: ended before its time, by a sign-out in another frame for example. `signed-out-by-provider`: by a back-channel
   * logout. `another-user`: somebody else has signed in in this browser, and this frame shows nothing any more.
   */
  'session-ended': {
    reason: 'expired' | 'signed-out' | 'signed-out-by-provider' | 'revoked' | 'another-user';
  };
  /**
   * `login` or `renew` did not lead to a session; told once for each. `error` is the word with which the instance refused
   * it, or `timeout`, `unreachable` (no page of the instance came), `no_session` (its page came, and told of none).
   */
  'login-failed': { during: 'login' | 'renewal'; error: string };
  /** The frame was moved in the document, so its page was loaded again; what was not saved in it is lost. */
  reloaded: Record<string, never>;
  /** The page in the frame is so high by now, in CSS pixels. */
  resize: { height: number };
}

/** What pages in frames say; they say it to the origin of the login, and `page-…` to whoever asks. */
type FrameMessage = {
  type: string;
  error: string;
  isRenewal?: boolean;
} & EmbeddedInstanceEvents['session-ready'] &
  EmbeddedInstanceEvents['session-ended'] &
  EmbeddedInstanceEvents['resize'];

/** A login or renewal that is under way, in a frame of its own. */
interface LoginAttempt {
  frame: HTMLIFrameElement;
  during: 'login' | 'renewal';
  /** First that of the limit, then those that wait for an answer of what has loaded. */
  timers: number[];
}

/**
 * One frame of the instance in a page of another origin. Tokens go to the instance by form posts only, never in an
 * address; messages are taken from the instance's frames and origin only.
 */
class EmbeddedInstance {
  static readonly version: string = '0.1.0';

  /** `currentScript` is known only while the script runs for the first time. */
  static readonly #home: string | undefined = (document.currentScript as HTMLScriptElement | null)?.src;
  static #count = 0;
  /** A page of the instance answers at once; what has loaded and does not is none (milliseconds). */
  static readonly #answerMs = 3000;
  /** While a login is under way that has nothing to show yet, and when it has led to nothing. */
  static readonly #words: Record<string, [string, string]> = {
    en: ['Loading …', 'Not available at the moment.'],
    de: ['Wird geladen …', 'Zurzeit nicht verfügbar.'],
  };

  /** What each option must be; there are no others. */
  static readonly #checks: Record<string, [isGood: (value: unknown) => boolean, must: string]> = {
    container: [(value) => value instanceof Element, 'be an element'],
    title: [(value) => typeof value === 'string' && value.trim() !== '', 'be a text'],
    url: [(value) => URL.canParse(String(value)), 'be an absolute URL'],
    loginTimeoutSeconds: [(value) => typeof value === 'number' && value > 0, 'be more than 0'],
    theme: [(value) => ['light', 'dark', 'auto'].includes(String(value)), 'be light, dark or auto'],
    accent: [(value) => /^#[\da-f]{6}$/i.test(String(value)), 'be a colour like #2f5bd0'],
    lang: [(value) => typeof value === 'string', 'be a language tag'],
    hideHeader: [(value) => typeof value === 'boolean', 'be true or false'],
  };
  static readonly #events = [
    'session-ready',
    'session-expiring',
    'session-ended',
    'login-failed',
    'reloaded',
    'resize',
  ];

  readonly #origin: string;
  readonly #timeoutMs: number;
  readonly #listeners = new Map<string, Set<(detail: never) => void>>();
  #appearance: Appearance = { lang: document.documentElement.lang };
  #frame: HTMLIFrameElement;
  #attempt: LoginAttempt | undefined;
  /** The frame that ends the session where the shown one does not. */
  #leaver: HTMLIFrameElement | undefined;
  #leaving = 0;
  /** Who was signed in last, until when. */
  #userId: string | undefined;
  #expiresAt = '';
  /** What the last login led to. */
  #target = '/';
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
      loginTimeoutSeconds = 30,
      ...appearance
    } = options;
    EmbeddedInstance.#check({ ...appearance, container, title, url, loginTimeoutSeconds });
    this.#origin = new URL(String(url)).origin;
    this.#timeoutMs = loginTimeoutSeconds * 1000;
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
    this.#drawLoading(true);
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
    if (!EmbeddedInstance.#events.includes(name)) throw new TypeError(`There is no event ${String(name)}`);
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /**
   * Signs in with a new token and shows a page of the instance. What the frame shows stays until that page comes.
   * @param redirectTo a path of the instance
   * @throws Error when the frame is not in the page
   */
  login(token: string, redirectTo = '/'): void {
    if (!this.#frame.isConnected) throw new Error('The frame is not in the page');
    this.#settle();
    this.#target = redirectTo;
    // A new frame has no history yet, so that the step back never leads to the page of another login.
    const frame = this.#frame.cloneNode() as HTMLIFrameElement;
    frame.removeAttribute('src');
    frame.name = EmbeddedInstance.#newName();
    // Laid out as the shown one, unseen: where `display` changes while a page is coming, Chromium may never paint that page.
    const { offsetWidth, offsetHeight } = this.#frame;
    frame.style.cssText = `position:fixed;visibility:hidden;width:${offsetWidth}px;height:${offsetHeight}px`;
    this.#frame.after(frame);
    this.#post(token, this.#landing(redirectTo), { frame, during: 'login', timers: [] });
  }

  /**
   * Replaces the session by one of a new token of the same user, while the frame goes on showing what it shows. Where
   * that is no page of a session, after a failed login for example, it is a login.
   */
  renew(token: string): void {
    if (!this.#isSessionShown) return this.login(token, this.#target);
    this.#settle();
    this.#post(token, '/renewed', { frame: this.#addHidden(), during: 'renewal', timers: [] });
  }

  /** Ends the session; `session-ended` tells when it is done. A login that is under way is given up. */
  logout(): void {
    this.#settle();
    this.#stopLeaving();
    this.#say(this.#frame, { type: 'sign-out' });
    // The page in the frame answers that it does so. Where it is another, or none, a frame of our own does it.
    this.#leaving = setTimeout(() => {
      const leaver = this.#addHidden();
      this.#leaver = leaver;
      leaver.onload = () => this.#say(leaver, { type: 'sign-out', userId: this.#userId });
      leaver.src = `${this.#origin}/sign-out`;
      this.#leaving = setTimeout(() => this.#stopLeaving(), this.#timeoutMs);
    }, 300);
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
    this.#settle();
    this.#stopLeaving();
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

  /** An address of the instance with what the page there has to know before it is painted. */
  #dressed(path: string): string {
    const url = new URL(path, this.#origin);
    for (const [name, value] of Object.entries(this.#appearance))
      if (value) url.searchParams.set(name, String(value));
    return url.href.slice(this.#origin.length);
  }

  /** Only `/` tells of its session by itself: to other targets the way leads over a page that does. */
  #landing(target: string): string {
    const isHere =
      URL.canParse(target, this.#origin) && new URL(target, this.#origin).origin === this.#origin;
    if (!isHere) return this.#dressed('/');
    if (new URL(target, this.#origin).pathname === '/') return this.#dressed(target);
    return this.#dressed(`/renewed?${String(new URLSearchParams({ to: target }))}`);
  }

  #post(token: string, redirectTo: string, attempt: LoginAttempt): void {
    const { frame, timers } = attempt;
    this.#attempt = attempt;
    timers.push(setTimeout(() => this.#fail('timeout'), this.#timeoutMs));
    frame.onload = () => this.#greet(attempt);
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
  #greet(attempt: LoginAttempt): void {
    const { frame, timers } = attempt;
    if (this.#attempt !== attempt || EmbeddedInstance.#isBlank(frame)) return;
    timers.push(setTimeout(() => this.#fail('unreachable'), EmbeddedInstance.#answerMs));
    this.#say(frame, { type: 'hello' });
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
    if (!EmbeddedInstance.#isBlank(frame)) return;
    // Firefox puts another blank document in the place of the first.
    if (this.#userId === undefined) return this.#drawLoading(true);
    frame.contentWindow?.location.replace(this.#origin + this.#landing(this.#target));
    this.#tell('reloaded', {});
  }

  #fail(error: string): void {
    const { during, frame } = this.#attempt ?? {};
    if (during === undefined) return;
    if (frame === this.#frame) this.#isSessionShown = false;
    this.#settle();
    this.#drawLoading(false);
    this.#tell('login-failed', { during, error });
  }

  /** Ends what is under way, be it with success or not. */
  #settle(): void {
    const { frame, timers = [] } = this.#attempt ?? {};
    this.#attempt = undefined;
    timers.forEach(clearTimeout);
    if (frame !== this.#frame) frame?.remove();
  }

  #stopLeaving(): void {
    clearTimeout(this.#leaving);
    this.#leaver?.remove();
    this.#leaver = undefined;
  }

  readonly #hear = ({ origin, source, data }: MessageEvent<FrameMessage>): void => {
    if (origin !== this.#origin || !source) return;
    const { type, ...detail } = data;
    if (source === this.#attempt?.frame.contentWindow) this.#hearAttempt(this.#attempt, type, detail);
    else if (source === this.#leaver?.contentWindow) this.#hearLeaver(type, detail);
    else if (source === this.#frame.contentWindow) this.#hearPage(type, detail);
  };

  #hearAttempt(attempt: LoginAttempt, type: string, detail: Omit<FrameMessage, 'type'>): void {
    const { frame, during, timers } = attempt;
    if (during === 'login') this.#show(frame);
    // It is a page of the instance: from now on only the limit counts.
    timers.splice(1).forEach(clearTimeout);
    if (type === 'login-failed') this.#fail(detail.error);
    if (type === 'page-loaded') this.#fail('no_session');
    if (type === 'session-ready') this.#hearReady(detail);
  }

  #hearLeaver(type: string, detail: Omit<FrameMessage, 'type'>): void {
    if (type !== 'session-ended') return;
    this.#stopLeaving();
    this.#tell(type, { reason: detail.reason });
  }

  #hearPage(type: string, detail: Omit<FrameMessage, 'type'>): void {
    if (type === 'signing-out') return this.#stopLeaving();
    // What the page of before has to say while another login is under way is out of date.
    if (this.#attempt?.during === 'login') return;
    if (type === 'session-ready') return this.#hearReady(detail);
    if (/^session-|^resize$/.test(type)) this.#tell(type, detail);
  }

  #hearReady({ expiresAt, userId, isRenewal }: Omit<FrameMessage, 'type'>): void {
    this.#settle();
    // Both the frame of a renewal and the one that is shown tell of it.
    if (isRenewal && this.#expiresAt === expiresAt) return;
    this.#isSessionShown = true;
    this.#userId = userId;
    this.#expiresAt = expiresAt;
    this.#isOver = false;
    this.#tell('session-ready', { expiresAt, userId });
  }

  #tell(name: string, detail: object): void {
    if (name === 'session-ended') {
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

  /** Writes into a frame that nothing was loaded into yet that something will be, or that it will not. */
  #drawLoading(isUnderWay: boolean): void {
    const frame = this.#frame;
    if (!EmbeddedInstance.#isBlank(frame)) return;
    const { lang = '', theme = 'auto' } = this.#appearance;
    const { documentElement: root, body } = frame.contentDocument!;
    root.lang = lang;
    root.style.colorScheme = theme === 'auto' ? 'light dark' : theme;
    body.style.cssText =
      'font: 1rem system-ui, sans-serif; text-align: center; margin: 3rem 1rem; opacity: .75';
    body.setAttribute('role', 'status');
    const words = EmbeddedInstance.#words;
    body.textContent = (words[lang.slice(0, 2)] ?? words['en'])?.[isUnderWay ? 0 : 1] ?? '';
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
