// The script for host pages, `/embed.js`: a frame of the instance, its login, and its session's life as events.
// The instance joins what the compiler makes of this folder, without imports and exports, in one scope of its own.
import { namingUser } from './addresses.js';
import { ANSWER_MS, Attempt } from './attempt.js';
import { addHiddenFrame, addSuccessor } from './frames.js';
import { checkOptions } from './option-checks.js';
import type {
  Appearance,
  EmbeddedInstanceEvents,
  EmbeddedInstanceOptions,
  EmbeddedSession,
  FrameMessage,
  LoginFailure,
} from './options.js';
import { ShownFrame } from './shown-frame.js';

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
  readonly #timeoutMs: number;
  readonly #events = new EventTarget();
  /** The listeners for `retry`. */
  readonly #retries = new Set<object>();
  readonly #shown: ShownFrame;
  #attempt: Attempt | undefined;
  /** Until when the last signed-in user is. */
  #expiresAt = '';
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
    this.#timeoutMs = loginTimeoutSeconds * 1000;
    const { origin } = new URL(String(url));
    this.#shown = new ShownFrame(origin, appearance, options, (name) => this.#dispatch(name, {}));
    addEventListener('message', this.#hear);
    document.addEventListener('securitypolicyviolation', this.#hearPolicy);
  }

  /** The frame that is shown; a login puts another one in its place, with the same attributes. */
  get frame(): HTMLIFrameElement {
    return this.#shown.element;
  }

  /** The path of what the frame shows, or was to show, for `login`. */
  get path(): string {
    return this.#shown.path;
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
    const hear = (event: Event) => listener((event as CustomEvent<EmbeddedInstanceEvents[Name]>).detail);
    this.#events.addEventListener(name, hear);
    if (name === 'retry') {
      this.#retries.add(hear);
      this.#shown.canRetry = true;
      this.#shown.hello();
    }
    return () => {
      this.#events.removeEventListener(name, hear);
      this.#retries.delete(hear);
      this.#shown.canRetry = this.#retries.size > 0;
    };
  }

  /**
   * Signs in with a new token and shows a page of the instance. What the frame shows stays until that page comes.
   * @param redirectTo a path of the instance
   * @throws EmbeddedInstanceError as `login-failed` says it; Error when the frame is not in the page
   */
  login(token: string | Promise<string>, redirectTo = '/'): Promise<EmbeddedSession> {
    return this.#open(redirectTo, (attempt) =>
      attempt.post(token, this.#shown.look(), { redirectTo: this.#shown.landing(redirectTo) }),
    );
  }

  /**
   * Shows a page of the session that a login of before has opened for this user, without a token. What the frame shows stays until
   * that page comes.
   * @throws EmbeddedInstanceError `no_session` or `another_user` where that session is not there any more
   */
  resume(userId: string, redirectTo = '/'): Promise<EmbeddedSession> {
    return this.#open(redirectTo, ({ frame }) => {
      frame!.src = this.#shown.origin + namingUser(this.#shown.landing(redirectTo), userId);
    });
  }

  /** Begins a login in a new frame, which takes the place of the shown one once its page has come. */
  #open(redirectTo: string, begin: (attempt: Attempt) => void): Promise<EmbeddedSession> {
    const { element } = this.#shown;
    if (!element.isConnected) return Promise.reject(new Error('The frame is not in the page'));
    this.#shown.path = redirectTo;
    const attempt = this.#begin('login', addSuccessor(element));
    begin(attempt);
    return attempt.promise;
  }

  /**
   * Replaces the session by one of a new token of the same user, while the frame goes on showing what it shows. Where
   * that is no page of a session, after a failed login for example, it is a login.
   * @throws EmbeddedInstanceError as `login-failed` says it
   */
  renew(token: string | Promise<string>): Promise<EmbeddedSession> {
    const { userId, path } = this.#shown;
    if (userId === undefined) return this.login(token, path);
    const attempt = this.#begin('renewal', addHiddenFrame());
    // With it the instance accepts a token of this user alone.
    attempt.post(token, this.#shown.look(), { redirectTo: '/renewed', userId });
    return attempt.promise;
  }

  /**
   * Shows another page of the instance, as a link in the present one would; the session stays. While no user is signed in it is where
   * `renew` leads to.
   * @param path of the instance; anything else is `/`
   */
  navigate(path: string): void {
    this.#shown.navigate(path);
  }

  /**
   * Ends the session with any page in the frame; gives up a login that is under way.
   * @throws EmbeddedInstanceError as `logout-failed` says it; it is tried again once the browser is online again
   */
  logout(): Promise<unknown> {
    const attempt = this.#begin('logout');
    this.#shown.say({ type: 'sign-out' });
    // The page in the frame answers that it does so. Where it is another, or none, a frame of our own does it.
    attempt.after(300, () => this.#leaveUnseen(attempt));
    return attempt.promise;
  }

  /**
   * Changes how the page in the frame looks, now and at later logins.
   * @throws TypeError for an option that is not as described
   */
  configure(appearance: Appearance): void {
    checkOptions(appearance);
    this.#shown.configure(appearance);
  }

  /** Takes the frame out of the page. The session lives on until its end. */
  remove(): void {
    removeEventListener('message', this.#hear);
    document.removeEventListener('securitypolicyviolation', this.#hearPolicy);
    this.#giveUp();
    this.#shown.remove();
  }

  /** Abandons what is in progress. */
  #begin(during: Attempt['during'], frame?: HTMLIFrameElement): Attempt {
    this.#giveUp();
    const attempt = new Attempt(during, this.#shown.origin, (failure) => this.#note(during, failure), frame);
    attempt.limit(this.#timeoutMs, 'timeout');
    if (frame) frame.onload = () => attempt.expectAnswer() && this.#shown.hello(frame);
    this.#attempt = attempt;
    return attempt;
  }

  /** The policy of the host page may forbid the frame, or that forms are posted into it. */
  readonly #hearPolicy = (violation: SecurityPolicyViolationEvent): void => {
    const { blockedURI, disposition, effectiveDirective } = violation;
    const isEnforced = disposition === 'enforce' && /^(form-action|frame-src)$/.test(effectiveDirective);
    if (isEnforced && blockedURI.startsWith(this.#shown.origin)) this.#attempt?.fail({ error: 'blocked' });
  };

  /** An attempt has ended. */
  #note(during: Attempt['during'], failure: LoginFailure | undefined): void {
    this.#attempt = undefined;
    if (failure === undefined || failure.error === 'given_up') return;
    if (during === 'login') this.#shown.showCard(failure);
    if (during !== 'logout') return this.#dispatch('login-failed', { during, ...failure });
    addEventListener('online', this.#leaveAgain);
    this.#dispatch('logout-failed', failure);
  }

  #giveUp(): void {
    this.#attempt?.fail({ error: 'given_up' });
    removeEventListener('online', this.#leaveAgain);
  }

  #leaveUnseen(attempt: Attempt): void {
    const frame = addHiddenFrame();
    attempt.frame = frame;
    frame.onload = () => {
      this.#shown.say({ type: 'sign-out', userId: this.#shown.userId }, frame);
      attempt.limit(ANSWER_MS, 'unreachable');
    };
    frame.src = `${this.#shown.origin}/sign-out`;
  }

  readonly #leaveAgain = () => void this.logout();

  readonly #hear = ({ origin, source, data }: MessageEvent<FrameMessage>): void => {
    if (origin !== this.#shown.origin || !source) return;
    const { type, ...detail } = data;
    if (source === this.#attempt?.frame?.contentWindow) this.#hearAttempt(this.#attempt, type, detail);
    else if (source === this.#shown.element.contentWindow) this.#hearPage(type, detail);
  };

  #hearAttempt(attempt: Attempt, type: string, detail: FrameDetail): void {
    attempt.answer();
    const { reason, ...failure } = detail;
    if (type === 'login-failed') attempt.fail(failure);
    if (type === 'page-loaded') attempt.fail({ error: 'no_session' });
    if (type === 'session-ready') this.#hearReady(detail, attempt);
    if (type === 'sign-out-failed') attempt.fail({ error: 'unreachable' });
    if (type === 'no-session') attempt.succeed();
    if (type !== 'session-ended') return;
    if (attempt.during === 'logout') this.#dispatch(type, { reason });
    else if (reason === 'another-user') attempt.fail({ error: 'another_user' });
  }

  #hearPage(type: string, detail: FrameDetail): void {
    const attempt = this.#attempt;
    if (attempt?.during === 'logout' && type.startsWith('sign')) this.#hearAttempt(attempt, type, detail);
    // Messages of the previous page are out of date while another login is under way, but for one.
    if (attempt?.during === 'login' && type !== 'retry') return;
    if (type === 'session-ready') return this.#hearReady(detail);
    if (type === 'navigated') this.#shown.follow(detail.path);
    if (type === 'resize') this.#shown.fit(detail.height);
    if (/^session-|^navigated$|^resize$|^retry$/.test(type)) this.#dispatch(type, detail);
  }

  /**
   * @param own the login or renewal whose frame reports it. Only its frame ends it: the page that is shown also reports the renewal of
   * another tab, and without the frame the cookie of this one would be lost.
   */
  #hearReady({ expiresAt, userId, isRenewal }: FrameDetail, own?: Attempt): void {
    if (own?.during === 'login') {
      this.#shown.replaceBy(own.frame!);
      // It does not go with the attempt any more.
      own.frame = undefined;
    } else if (userId !== this.#shown.userId && this.#shown.userId !== undefined) {
      // Only a login may change the user: the page has found the session of another one.
      if (this.#attempt?.during === 'renewal') this.#attempt.fail({ error: 'another_user' });
      return this.#dispatch('session-ended', { reason: 'another-user' });
    }
    own?.succeed({ expiresAt, userId });
    // Both the frame of a renewal and the visible one report it.
    if ((isRenewal || own?.during === 'renewal') && this.#expiresAt === expiresAt) return;
    this.#shown.userId = userId;
    this.#expiresAt = expiresAt;
    this.#isOver = false;
    this.#dispatch('session-ready', { expiresAt, userId });
  }

  #dispatch(name: string, detail: object): void {
    if (name === 'session-ended') {
      if (this.#attempt?.during === 'logout') {
        this.#attempt.succeed();
        // The page may find its session over before our own frame, which has ended it, has the answer.
        if ('reason' in detail && detail.reason === 'revoked') detail = { reason: 'signed-out' };
      }
      if (this.#isOver) return;
      this.#isOver = true;
    }
    this.#events.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
