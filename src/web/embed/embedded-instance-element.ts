// `<embedded-instance>`: a frame of the instance that signs in, renews and tries again by itself.
import { UNAVAILABLE } from './card.js';
import { EmbeddedInstance } from './embedded-instance.js';
import { optionFault } from './option-checks.js';
import type { Appearance, EmbeddedInstanceError, EmbeddedInstanceEvents } from './options.js';

declare global {
  interface HTMLElementTagNameMap {
    'embedded-instance': EmbeddedInstanceElement;
  }
}

/** Attributes that are options of the look. */
const LOOKS = ['theme', 'accent', 'lang', 'hide-header', 'font', 'background', 'full-width'];
const OTHERS = ['title', 'url', 'height', 'redirect-to', 'user-key', 'error-ui'];
/** What time may mend; of other failures one more token finds out. */
const MAY_PASS = [...UNAVAILABLE, 'too_many_requests'];
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** A session that ends sooner is not worth going on with. */
const LEFT_MS = 60_000;

/** Sessions of the elements that were there, by instance and `user-key`: an element that comes back goes on with its own. */
const sessions = new Map<string, { userId: string; endsAt: number }>();

/** Its events are typed, as those of DOM elements are. */
interface TypedEvents {
  addEventListener<Name extends keyof EmbeddedInstanceEvents>(
    name: Name,
    listener: (event: CustomEvent<EmbeddedInstanceEvents[Name]>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/** On a server, where there are no elements, the module can be loaded all the same. */
const Base = (globalThis.HTMLElement ?? class {}) as new () => TypedEvents & HTMLElement;

/**
 * Its attributes are the options of the class with hyphens (`hide-header`), `redirect-to` and `user-key`; its events are DOM events
 * of the same names. It signs in once it is in the page and knows `fetchToken`. A child with `slot="error"` is its `errorUi`.
 */
export class EmbeddedInstanceElement extends Base {
  static readonly observedAttributes: readonly string[] = [...LOOKS, ...OTHERS];

  #fetchToken: (() => Promise<string>) | undefined;
  #instance: EmbeddedInstance | undefined;
  /** Whether it will be looked at in the microtask: attributes and properties often change together. */
  #isDue = false;
  /** What is tried again, and when. */
  #again: { run: () => void; timer: number } | undefined;
  #failures = 0;
  /** Until then the instance wants no other try (milliseconds of `performance.now`). */
  #notBefore = 0;
  /** After a logout by the provider a visitor's wish counts once. */
  #isLastTry = false;

  /** Fetches a new token of the user from your backend; called for each login and renewal. */
  get fetchToken(): (() => Promise<string>) | undefined {
    return this.#fetchToken;
  }

  set fetchToken(fetchToken: (() => Promise<string>) | undefined) {
    this.#fetchToken = fetchToken;
    this.#startSoon();
  }

  /** The instance; undefined until its first sign-in. Another `user-key` or `url` makes another one. */
  get instance(): EmbeddedInstance | undefined {
    return this.#instance;
  }

  /** As `navigate` of the class. */
  navigate(path: string): void {
    this.#instance?.navigate(path);
  }

  /** Signs in with a new token, and shows the page that was shown last. */
  signIn(): void {
    this.#failures = 0;
    this.#try((instance) => instance.login(this.#token(), instance.path));
  }

  connectedCallback(): void {
    // It was set before this script was there.
    if (Object.hasOwn(this, 'fetchToken')) {
      const { fetchToken } = this;
      Reflect.deleteProperty(this, 'fetchToken');
      this.fetchToken = fetchToken;
    }
    addEventListener('online', this.#tryNow);
    document.addEventListener('visibilitychange', this.#tryNow);
    this.#startSoon();
    setTimeout(() => this.#warnOfLack(), FIRST_PAUSE_MS);
  }

  /** An element that was only moved is connected again in the microtask. */
  disconnectedCallback(): void {
    queueMicrotask(() => {
      if (this.isConnected) return;
      removeEventListener('online', this.#tryNow);
      document.removeEventListener('visibilitychange', this.#tryNow);
      this.#stop();
    });
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    const instance = this.#instance;
    if (instance === undefined || before === after) return;
    if (LOOKS.includes(name)) return instance.configure(this.#looks());
    if (name === 'title') instance.frame.title = this.#title();
    else if (name === 'redirect-to') instance.navigate(after ?? '/');
    else {
      // Nothing of the user of before stays in view.
      this.#stop();
      this.#startSoon();
    }
  }

  #startSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      if (this.#instance === undefined && this.#fetchToken !== undefined && this.isConnected) this.#start();
    });
  }

  #stop(): void {
    this.#giveUp();
    this.#instance?.remove();
    this.#instance = undefined;
  }

  #start(): void {
    const instance = this.#made();
    if (instance === undefined) return;
    this.#instance = instance;
    for (const name of EmbeddedInstance.events)
      instance.on(name, (detail) => this.dispatchEvent(new CustomEvent(name, { detail })));
    const key = this.#key();
    instance.on('session-ready', ({ userId, expiresAt }) => {
      this.#failures = 0;
      this.#isLastTry = false;
      if (key !== undefined) sessions.set(key, { userId, endsAt: Date.parse(expiresAt) });
    });
    instance.on('session-ended', ({ reason }) => {
      if (key !== undefined) sessions.delete(key);
      this.#giveUp();
      this.#isLastTry = reason === 'signed-out-by-provider';
      if (reason === 'expired') this.signIn();
    });
    instance.on('session-expiring', () => this.#try(() => instance.renew(this.#token())));
    instance.on('retry', () => this.signIn());
    this.#begin(instance, key);
  }

  #made(): EmbeddedInstance | undefined {
    const slot = this.querySelector<HTMLElement>(':scope > [slot=error]');
    const options = {
      container: this,
      title: this.#title(),
      ...this.#good({
        url: this.getAttribute('url') ?? undefined,
        height: this.getAttribute('height') ?? undefined,
        errorUi: this.getAttribute('error-ui') ?? slot ?? undefined,
      }),
      ...this.#looks(),
    };
    try {
      return new EmbeddedInstance(options);
    } catch (error) {
      this.#warn((error as Error).message);
      return undefined;
    }
  }

  /** With the session of an element that was there before, if there is one for the same user. */
  #begin(instance: EmbeddedInstance, key: string | undefined): void {
    const path = this.getAttribute('redirect-to') ?? '/';
    const session = key === undefined ? undefined : sessions.get(key);
    const login = () => this.#try(() => instance.login(this.#token(), path));
    if (session === undefined || session.endsAt - Date.now() < LEFT_MS) return login();
    instance.resume(session.userId, path).catch(({ error }: EmbeddedInstanceError) => {
      if (error !== 'given_up') login();
    });
  }

  #key(): string | undefined {
    const userKey = this.getAttribute('user-key');
    return userKey === null ? undefined : `${this.getAttribute('url') ?? ''} ${userKey}`;
  }

  /** Tries until it succeeds, later and later; a failure that time does not mend is tried once more. */
  #try(attempt: (instance: EmbeddedInstance) => Promise<unknown>): void {
    const instance = this.#instance;
    if (instance === undefined) return;
    this.#giveUp();
    attempt(instance).catch(({ error, cause, retryAfterSeconds = 0 }: EmbeddedInstanceError) => {
      if (error === 'given_up' || instance !== this.#instance) return;
      if (cause !== undefined) console.warn('<embedded-instance>: there is no token:', cause);
      this.#failures += 1;
      // Two frames of two users would end each other's sessions for ever.
      if (error === 'another_user' || this.#isLastTry) return;
      if (!MAY_PASS.includes(error) && this.#failures > 1) return;
      const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1));
      const asked = retryAfterSeconds * 1000;
      this.#notBefore = performance.now() + asked;
      this.#schedule(Math.max(asked, longest / 2) + (Math.random() * longest) / 2, () => this.#try(attempt));
    });
  }

  #schedule(milliseconds: number, run: () => void): void {
    clearTimeout(this.#again?.timer);
    this.#again = { run, timer: setTimeout(run, milliseconds) };
  }

  /** The network is back, or the visitor: what waits begins again, as soon as the instance wants it. */
  readonly #tryNow = (): void => {
    if (this.#again === undefined || document.hidden) return;
    this.#failures = 0;
    const left = Math.max(0, this.#notBefore - performance.now());
    this.#schedule(left + Math.random() * FIRST_PAUSE_MS, this.#again.run);
  };

  #giveUp(): void {
    clearTimeout(this.#again?.timer);
    this.#again = undefined;
  }

  /** What it throws is a rejection too. */
  async #token(): Promise<string> {
    return this.#fetchToken!();
  }

  #title(): string {
    return this.title.trim() || 'embedded-instance';
  }

  /** An option whose attribute is missing is undefined, so that it is taken back. */
  #looks(): Appearance {
    const given = LOOKS.map((name) => {
      const value = this.getAttribute(name);
      const option = name.replace(/-(\w)/, (_, letter: string) => letter.toUpperCase());
      const isFlag = name.includes('-');
      // As `hide-header="false"`, which frameworks write.
      const flag =
        value === null || value === 'false' ? false : /^(true)?$/.test(value) || value === name || value;
      return [option, isFlag ? flag : (value ?? undefined)];
    });
    return this.#good(Object.fromEntries(given) as Record<string, unknown>);
  }

  /** An option that is not as described is named, and counts as left out. */
  #good(options: Record<string, unknown>): object {
    const isGood = ([name, value]: [string, unknown]) => {
      // Without it the origin of the script counts, which the class knows.
      const fault = name === 'url' && value === undefined ? undefined : optionFault(name, value);
      if (fault !== undefined) this.#warn(fault);
      return fault === undefined;
    };
    const entries = Object.entries(options);
    return Object.fromEntries(entries.map((entry) => [entry[0], isGood(entry) ? entry[1] : undefined]));
  }

  #warnOfLack(): void {
    if (!this.isConnected) return;
    const lacks = [
      ...(this.#fetchToken === undefined ? ['the property fetchToken'] : []),
      ...(this.title.trim() === '' ? ['the attribute title'] : []),
    ];
    if (lacks.length > 0) this.#warn(`it needs ${lacks.join(' and ')}`);
  }

  #warn(text: string): void {
    console.warn(`<embedded-instance>: ${text}`, this);
  }
}

// A page may have the script and the package.
if (globalThis.customElements?.get('embedded-instance') === undefined)
  globalThis.customElements?.define('embedded-instance', EmbeddedInstanceElement);
