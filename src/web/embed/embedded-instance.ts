// The script for host pages, `/embed.js`: a frame of the instance, its login, and its session's life as events.
// A classic script without imports, so that the compiler's output is what browsers load.

/** How to make a frame. */
interface EmbeddedInstanceOptions {
  /** The element that the frame is put into; style the `iframe` there. */
  container: Element;
  /** What assistive technology calls the frame. */
  title: string;
  /** Origin of the instance; that of this script if left out. */
  url?: string;
}

/** The events, with what their listeners are told. */
interface EmbeddedInstanceEvents {
  /** Somebody is signed in, by `login` or anew by `renew`. `expiresAt` is ISO 8601. */
  'session-ready': { expiresAt: string };
  /** The session ends in 60 seconds (a short one after half its time): time to fetch a token and `renew`. */
  'session-expiring': { expiresAt: string };
  /** `revoked`: ended before its time, by a sign-out in another frame for example. */
  'session-ended': { reason: 'expired' | 'signed-out' | 'revoked' };
  /** `login` or `renew` did not lead to a session: refused, not to be framed from here, or without its cookie. */
  'login-failed': { during: 'login' | 'renewal' };
}

/** What the page in the frame says; it says it to the origin of the login only. */
type SessionMessage = EmbeddedInstanceEvents['session-ready'] & EmbeddedInstanceEvents['session-ended'];

/**
 * One frame of the instance in a page of another origin. Tokens go to the instance by form posts only, never in an
 * address; messages are taken from the frame itself and from the instance's origin only.
 */
class EmbeddedInstance {
  static readonly version: string = '0.1.0';

  /** `currentScript` is known only while the script runs for the first time. */
  static readonly #home: string | undefined = (document.currentScript as HTMLScriptElement | null)?.src;
  static #count = 0;
  /** A refused login is JSON, which cannot send a message: its silence is what tells (milliseconds). */
  static readonly #patience = 2000;

  readonly frame: HTMLIFrameElement;
  readonly #origin: string;
  readonly #listeners = new Map<string, Set<(detail: never) => void>>();
  /** The frame in which the present login or renewal is under way. */
  #attempt: HTMLIFrameElement | undefined;
  #timer = 0;

  constructor({ container, title, url = EmbeddedInstance.#home }: EmbeddedInstanceOptions) {
    this.#origin = new URL(String(url)).origin;
    this.frame = EmbeddedInstance.#addFrame(container, title);
    addEventListener('message', this.#hear);
  }

  /** Calls the listener at each event of this name, until the function that is returned is called. */
  on<Name extends keyof EmbeddedInstanceEvents>(
    name: Name,
    listener: (detail: EmbeddedInstanceEvents[Name]) => void,
  ): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /**
   * Signs in with a new token and shows a page of the instance.
   * @param redirectTo a path of the instance
   */
  login(token: string, redirectTo = '/'): void {
    this.#post(token, redirectTo, this.frame);
  }

  /** Replaces the session by one of a new token, while the frame shows on what it shows. */
  renew(token: string): void {
    const hidden = EmbeddedInstance.#addFrame(document.body, '');
    hidden.hidden = true;
    this.#post(token, '/renewed', hidden);
  }

  /** Ends the session; `session-ended` tells when it is done. */
  logout(): void {
    this.frame.contentWindow?.postMessage({ type: 'sign-out' }, this.#origin);
  }

  /** Takes the frame out of the page. The session lives on until its end. */
  remove(): void {
    removeEventListener('message', this.#hear);
    this.#settle();
    this.frame.remove();
  }

  #post(token: string, redirectTo: string, frame: HTMLIFrameElement): void {
    this.#settle();
    this.#attempt = frame;
    frame.onload = () => this.#awaitSession(frame);
    const form = document.createElement('form');
    Object.assign(form, { method: 'post', action: `${this.#origin}/rest/auth/embed`, target: frame.name });
    for (const [name, value] of Object.entries({ token, redirectTo })) {
      form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
    }
    document.body.append(form);
    form.submit();
    form.remove();
  }

  #awaitSession(frame: HTMLIFrameElement): void {
    if (this.#attempt !== frame || EmbeddedInstance.#isBlank(frame)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const during = frame === this.frame ? 'login' : 'renewal';
      this.#settle();
      this.#tell('login-failed', { during });
    }, EmbeddedInstance.#patience);
  }

  /** Ends what is under way, be it with success or not. */
  #settle(): void {
    clearTimeout(this.#timer);
    if (this.#attempt !== this.frame) this.#attempt?.remove();
    this.#attempt = undefined;
  }

  readonly #hear = ({ origin, source, data }: MessageEvent<unknown>): void => {
    if (origin !== this.#origin || source !== this.frame.contentWindow) return;
    const { type, ...detail } = data as { type: keyof EmbeddedInstanceEvents } & SessionMessage;
    if (type === 'session-ready') this.#settle();
    if (type.startsWith('session-')) this.#tell(type, detail);
  };

  #tell(name: keyof EmbeddedInstanceEvents, detail: object): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(detail as never);
  }

  static #addFrame(container: Element, title: string): HTMLIFrameElement {
    const frame = document.createElement('iframe');
    // A form finds its frame by name, so no two frames of a page may share one.
    Object.assign(frame, { name: `embedded-instance-${++EmbeddedInstance.#count}`, title });
    container.append(frame);
    return frame;
  }

  /** Some browsers tell that an empty frame has loaded; what another origin has put there cannot be looked at. */
  static #isBlank(frame: HTMLIFrameElement): boolean {
    try {
      return frame.contentWindow?.location.href === 'about:blank';
    } catch {
      return false;
    }
  }
}

// A class alone is known to other scripts by name, but not as a member of `window`.
Object.assign(globalThis, { EmbeddedInstance });
