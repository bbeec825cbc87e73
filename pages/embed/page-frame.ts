// The iframe: its address, the messages of its page, and the cause if no page of the instance answers in it.
import type { MessageFromPage, MessageToPage } from '../protocol.js';

/** A page of the instance answers at once. Without an answer, something else has probably loaded. */
const ANSWER_MS = 300;
/** Longer than a busy browser delays the page's answer. */
const LONGEST_ANSWER_MS = 3000;

interface Listeners {
  hear(message: MessageFromPage): void;
  /** Called if no page has loaded. */
  miss(cause: string, detail?: string): void;
}

export class PageFrame {
  readonly element: HTMLIFrameElement;
  /** Whether a page of the instance has answered. */
  isReady = false;
  #cause: string | undefined;
  #isSecondTry = false;
  #timer = 0;

  /** @param address the page's path with its query */
  constructor(
    readonly origin: string,
    title: string,
    private readonly address: () => string,
    private readonly listeners: Listeners,
  ) {
    // Attributes, so that any style of the host page overrides them.
    this.element = Object.assign(document.createElement('iframe'), {
      title,
      width: '100%',
      height: '600',
      frameBorder: '0',
      onload: () => this.#expectAnswer(),
    });
    addEventListener('message', this.#hear);
    document.addEventListener('securitypolicyviolation', this.#hearPolicy);
  }

  /** Loads the page, unless it is loaded or loading. */
  load(): void {
    if (this.isReady || (this.element.src && this.#cause === undefined)) return;
    this.#cause = undefined;
    const cause = causeAtOnce(this.element);
    if (cause) return this.#miss(cause);
    if (this.element.src) this.#isSecondTry = false;
    this.#navigate();
  }

  say(message: MessageToPage): void {
    if (this.isReady) this.element.contentWindow?.postMessage(message, this.origin);
  }

  remove(): void {
    removeEventListener('message', this.#hear);
    document.removeEventListener('securitypolicyviolation', this.#hearPolicy);
    clearTimeout(this.#timer);
    this.element.remove();
  }

  /** Adds no entry to the browser's history. */
  #navigate(): void {
    const url = this.origin + this.address();
    if (this.element.src) this.element.contentWindow?.location.replace(url);
    else this.element.src = url;
  }

  /** Something has loaded: the instance's page, an error page of the browser, or the blank page that Firefox loads first. */
  #expectAnswer(): void {
    if (this.#cause !== undefined || isBlank(this.element)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#diagnose(), ANSWER_MS);
  }

  async #diagnose(): Promise<void> {
    const [cause, detail] = await causeByAsking(this.origin);
    if (this.isReady || this.#cause !== undefined || !this.element.isConnected) return;
    if (cause) return this.#miss(cause, detail);
    this.#timer = setTimeout(() => this.#tryAgain(), LONGEST_ANSWER_MS);
  }

  /** If the instance can be reached and the page still does not load, the frame is not allowed. */
  #tryAgain(): void {
    if (this.#isSecondTry) return this.#miss('blocked');
    this.#isSecondTry = true;
    this.#navigate();
  }

  #miss(cause: string, detail?: string): void {
    clearTimeout(this.#timer);
    this.#cause = cause;
    this.isReady = false;
    this.listeners.miss(cause, detail);
  }

  readonly #hear = ({ origin, source, data }: MessageEvent<MessageFromPage>): void => {
    if (source === null || source !== this.element.contentWindow) return;
    // The instance's page in a sandbox without `allow-same-origin`.
    if (origin === 'null') return this.#miss('sandboxed');
    if (origin !== this.origin) return;
    if (data.type === 'page-ready') {
      if (data.cause) return this.#miss(data.cause, data.description);
      clearTimeout(this.#timer);
      this.#cause = undefined;
      this.#isSecondTry = false;
      this.isReady = true;
    }
    this.listeners.hear(data);
  };

  readonly #hearPolicy = ({
    blockedURI,
    disposition,
    effectiveDirective,
  }: SecurityPolicyViolationEvent): void => {
    if (disposition !== 'enforce' || effectiveDirective !== 'frame-src') return;
    if (blockedURI.startsWith(this.origin)) this.#miss('blocked');
  };
}

/** Causes that the browser reveals before anything is loaded. */
function causeAtOnce({ sandbox }: HTMLIFrameElement): string | undefined {
  if (self.origin === 'null') return 'opaque_host';
  if (!isSecureContext) return 'insecure_page';
  const needed = ['allow-scripts', 'allow-same-origin'];
  if (sandbox.length > 0 && !needed.every((token) => sandbox.contains(token))) return 'sandboxed';
  return undefined;
}

/** Asks the instance whether this page may frame it. @returns nothing if it may */
async function causeByAsking(origin: string): Promise<[cause?: string, detail?: string]> {
  try {
    const url = `${origin}/frame/check?host=${encodeURIComponent(self.origin)}`;
    const answer = await fetch(url, { credentials: 'omit', cache: 'no-store' });
    const { allowed, baseUrl } = (await answer.json()) as { allowed: boolean; baseUrl: string };
    const base = new URL(baseUrl).origin;
    if (base !== origin) return ['wrong_address', `${origin} is not ${base}`];
    return allowed ? [] : ['not_allowed_here', self.origin];
  } catch {
    return [(await isLocalNetworkDenied()) ? 'local_network' : 'unreachable'];
  }
}

async function isLocalNetworkDenied(): Promise<boolean> {
  for (const name of ['local-network', 'loopback-network', 'local-network-access']) {
    try {
      const { state } = await navigator.permissions.query({ name: name as PermissionName });
      if (state === 'denied') return true;
    } catch {
      // This browser has no such permission.
    }
  }
  return false;
}

/** A document of another origin cannot be read. */
function isBlank({ contentWindow }: HTMLIFrameElement): boolean {
  try {
    return contentWindow?.location.href === 'about:blank';
  } catch {
    return false;
  }
}
