// `<embedded-instance>`, in `/embed.js`: a frame of the instance that signs in, renews and tries again by itself.

interface HTMLElementTagNameMap {
  'embedded-instance': EmbeddedInstanceElement;
}

/**
 * Its attributes are the options of the class with hyphens (`hide-header`), and `redirect-to`; its events are DOM events of the
 * same names, with `detail`. It signs in once it is in the page and knows `fetchToken`.
 */
class EmbeddedInstanceElement extends HTMLElement {
  static readonly observedAttributes: readonly string[] = [
    'theme',
    'accent',
    'lang',
    'hide-header',
    'font',
    'background',
    'full-width',
  ];

  #fetchToken: (() => Promise<string>) | undefined;
  #instance: EmbeddedInstance | undefined;

  /** Fetches a new token of the user from your backend; called for each login and renewal. */
  get fetchToken(): (() => Promise<string>) | undefined {
    return this.#fetchToken;
  }

  set fetchToken(fetchToken: (() => Promise<string>) | undefined) {
    this.#fetchToken = fetchToken;
    this.#start();
  }

  /** The instance; undefined until its first sign-in. */
  get instance(): EmbeddedInstance | undefined {
    return this.#instance;
  }

  connectedCallback(): void {
    // It was set before this script was there.
    if (Object.hasOwn(this, 'fetchToken')) {
      const { fetchToken } = this;
      Reflect.deleteProperty(this, 'fetchToken');
      this.fetchToken = fetchToken;
    }
    this.#start();
  }

  /** An element that was only moved is connected again in the microtask. */
  disconnectedCallback(): void {
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#instance?.remove();
      this.#instance = undefined;
    });
  }

  attributeChangedCallback(): void {
    this.#instance?.configure(this.#appearance());
  }

  #start(): void {
    if (this.#instance !== undefined || this.#fetchToken === undefined || !this.isConnected) return;
    const text = (name: string) => this.getAttribute(name) ?? undefined;
    const height = text('height') as 'auto' | undefined;
    const options = { container: this, title: this.title, url: text('url'), height, ...this.#appearance() };
    const instance = new EmbeddedInstance(options);
    this.#instance = instance;
    for (const name of EmbeddedInstance.events)
      instance.on(name, (detail) => this.dispatchEvent(new CustomEvent(name, { detail })));
    const signIn = () => this.#insist((token) => instance.login(token, text('redirect-to')));
    instance.on('retry', signIn);
    instance.on('session-expiring', () => this.#insist((token) => instance.renew(token)));
    instance.on('session-ended', ({ reason }) => reason === 'expired' && signIn());
    signIn();
  }

  /** Once more with a new token, and no further: what fails twice would fail again. */
  #insist(attempt: (token: Promise<string>) => Promise<unknown>): void {
    const tryOnce = () => attempt(this.#fetchToken!());
    // Two frames of two users would end each other's sessions for ever.
    const isFinal = (error: string) => ['given_up', 'another_user'].includes(error);
    tryOnce().catch(({ error }: EmbeddedInstanceError) => isFinal(error) || tryOnce().catch(() => undefined));
  }

  #appearance(): Appearance {
    const given = EmbeddedInstanceElement.observedAttributes.map((name) => {
      const value = this.getAttribute(name);
      const option = name.replace(/-(\w)/, (_, letter: string) => letter.toUpperCase());
      return [option, name.includes('-') ? value !== null : value];
    });
    return Object.fromEntries(given.filter(([, value]) => value !== null)) as Appearance;
  }
}

customElements.define('embedded-instance', EmbeddedInstanceElement);
