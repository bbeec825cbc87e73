// `<embedded-instance>`: a frame of the instance that signs in, renews and tries again by itself.
import { EmbeddedInstance } from './embedded-instance.js';
import type { EmbeddedInstanceError, EmbeddedInstanceEvents } from './events.js';
import { PASSING } from './failures.js';
import type { ElementOptions, FetchToken, OptionName } from './options.js';
import { attributeOf, ATTRIBUTES, FIXED, optionFault, readAttribute } from './options.js';

declare global {
  interface HTMLElementTagNameMap {
    'embedded-instance': EmbeddedInstanceElement;
  }
}

const NAMES = Object.keys(ATTRIBUTES) as OptionName[];
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** Its events are typed like those of DOM elements. */
interface TypedEvents {
  addEventListener<Name extends keyof EmbeddedInstanceEvents>(
    name: Name,
    listener: (event: CustomEvent<EmbeddedInstanceEvents[Name]>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/** A server, which has no elements, can load the module too. */
const Base = (globalThis.HTMLElement ?? class {}) as new () => TypedEvents & HTMLElement;

/**
 * Its attributes are the options with hyphens, its events DOM events. It signs in once it is in the page and has `fetchToken`. A child
 * with `slot="error"` is its `errorUi`.
 */
export class EmbeddedInstanceElement extends Base {
  static readonly observedAttributes: readonly string[] = NAMES.map(attributeOf);

  #fetchToken: FetchToken | undefined;
  #instance: EmbeddedInstance | undefined;
  /** Attributes and properties often change together, so it starts in a microtask. */
  #isDue = false;
  /** The next try and its timer. */
  #again: { run: () => void; timer: number } | undefined;
  #failures = 0;
  /** The earliest time of the next try that the instance accepts, by `performance.now`. */
  #notBefore = 0;
  /** After a logout by the provider, only the visitor can start another login, and only once. */
  #isLastTry = false;

  /** Called for each login and renewal. */
  get fetchToken(): FetchToken | undefined {
    return this.#fetchToken;
  }

  set fetchToken(fetchToken: FetchToken | undefined) {
    this.#fetchToken = fetchToken;
    this.#startSoon();
  }

  /** Undefined until the first sign-in. Another `user-key` or `url` creates another one. */
  get instance(): EmbeddedInstance | undefined {
    return this.#instance;
  }

  /** Shows another path without a token. */
  navigate(path: string): void {
    this.#instance?.navigate(path);
  }

  /** Signs in with a new token, and shows the last path again. */
  signIn(): void {
    this.#failures = 0;
    this.#try('login');
  }

  connectedCallback(): void {
    // The property was set before the script was loaded.
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

  attributeChangedCallback(attribute: string, before: string | null, after: string | null): void {
    const name = NAMES.find((one) => attributeOf(one) === attribute);
    if (this.#instance === undefined || before === after || name === undefined) return;
    if (!(name in FIXED)) return this.#instance.configure(this.#read([name]));
    // Removes the previous user's view.
    this.#stop();
    this.#startSoon();
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
    instance.retries = true;
    for (const name of EmbeddedInstance.events)
      instance.on(name, (detail) => this.dispatchEvent(new CustomEvent(name, { detail })));
    instance.on('session-ready', () => {
      this.#giveUp();
      this.#failures = 0;
      this.#isLastTry = false;
    });
    instance.on('session-ended', ({ reason }) => {
      this.#giveUp();
      this.#isLastTry = reason === 'signed-out-by-provider';
      if (reason === 'expired') this.signIn();
    });
    instance.on('session-expiring', () => this.#try('renewal'));
    instance.on('retry', () => this.signIn());
    this.#try('login');
  }

  #made(): EmbeddedInstance | undefined {
    const { errorUi, ...options } = this.#read(NAMES) as ElementOptions;
    const slot = this.querySelector<HTMLElement>(':scope > [slot=error]') ?? undefined;
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    try {
      return new EmbeddedInstance({
        ...Object.fromEntries(given),
        container: this,
        title: options.title!,
        errorUi: errorUi ?? slot,
      });
    } catch (error) {
      this.#warn((error as Error).message);
      return undefined;
    }
  }

  /** Retries with growing waits until it succeeds. A permanent failure is retried once. */
  #try(during: 'login' | 'renewal'): void {
    const instance = this.#instance;
    if (instance === undefined) return;
    this.#giveUp();
    const token: FetchToken = async (request) => this.#fetchToken!(request);
    const attempt = during === 'login' ? instance.login(token) : instance.renew(token);
    attempt.catch(({ error, cause, retryAfterSeconds = 0 }: EmbeddedInstanceError) => {
      if (error === 'given_up' || instance !== this.#instance) return;
      if (cause !== undefined) this.#warn('there is no token:', cause);
      this.#failures += 1;
      if (this.#isLastTry) return;
      if (!PASSING.includes(error) && this.#failures > 1) return;
      const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1));
      const asked = retryAfterSeconds * 1000;
      this.#notBefore = performance.now() + asked;
      this.#schedule(Math.max(asked, longest / 2) + (Math.random() * longest) / 2, () => this.#try(during));
    });
  }

  #schedule(milliseconds: number, run: () => void): void {
    clearTimeout(this.#again?.timer);
    this.#again = { run, timer: setTimeout(run, milliseconds) };
  }

  /** The network or the visitor is back: the next try comes as soon as the instance allows. */
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

  /** The options from the attributes. A wrong value is logged and ignored. */
  #read(names: readonly OptionName[]): Record<string, unknown> {
    return Object.fromEntries(
      names.map((name) => {
        const value = readAttribute(name, this.getAttribute(attributeOf(name)));
        const fault = value === undefined ? undefined : optionFault(name, value);
        if (fault !== undefined) this.#warn(fault);
        const isGood = value !== undefined && fault === undefined;
        return [name, isGood ? value : name === 'title' ? 'embedded-instance' : undefined];
      }),
    );
  }

  #warnOfLack(): void {
    if (!this.isConnected) return;
    const lacks = [
      ...(this.#fetchToken === undefined ? ['the property fetchToken'] : []),
      ...(this.title.trim() === '' ? ['the attribute title'] : []),
    ];
    if (lacks.length > 0) this.#warn(`it needs ${lacks.join(' and ')}`);
  }

  #warn(text: string, cause: unknown = this): void {
    console.warn(`<embedded-instance>: ${text}`, cause);
  }
}

// A page may have both the script and the package.
if (globalThis.customElements?.get('embedded-instance') === undefined)
  globalThis.customElements?.define('embedded-instance', EmbeddedInstanceElement);
