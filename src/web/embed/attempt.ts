// A login, renewal or sign-out in progress: its frame, how long it may take, and how it ends.
import { dressed } from './addresses.js';
import { isBlank, postInto } from './frames.js';
import type { Appearance, EmbeddedInstanceError, EmbeddedSession, LoginFailure } from './options.js';

/** A page of the instance answers at once; what has loaded and does not is none. */
export const ANSWER_MS = 3000;

export class Attempt {
  readonly #outcome = Promise.withResolvers<EmbeddedSession | undefined>();
  /** The first is that of the limit; the others wait until something that has loaded answers. */
  readonly #timers: number[] = [];
  #isOver = false;

  /**
   * @param onEnd called once, with the failure if it has failed
   * @param frame of its own; a sign-out has one only where the page that is shown does not do it
   */
  constructor(
    readonly during: EmbeddedInstanceError['during'],
    private readonly origin: string,
    private readonly onEnd: (failure?: LoginFailure) => void,
    public frame?: HTMLIFrameElement,
  ) {
    // A host page need not handle the promise: events say the same.
    this.#outcome.promise.catch(() => undefined);
  }

  get promise(): Promise<EmbeddedSession> {
    return this.#outcome.promise as Promise<EmbeddedSession>;
  }

  after(milliseconds: number, act: () => void): void {
    this.#timers.push(setTimeout(act, milliseconds));
  }

  /** Lets it fail unless it ends, or is answered, sooner. */
  limit(milliseconds: number, error: string): void {
    this.after(milliseconds, () => this.fail({ error }));
  }

  /** A page of the instance has answered: from now on only the limit counts. */
  answer(): void {
    this.#timers.splice(1).forEach(clearTimeout);
  }

  /** Posts a token into its frame, once there is one. */
  post(
    token: string | Promise<string>,
    look: Appearance,
    asked: { redirectTo: string; userId?: string },
  ): void {
    // In the address too: of a body that is too large the instance keeps nothing.
    const action = this.origin + dressed(this.origin, '/rest/auth/embed?answer=page', look);
    const post = (value: string) => {
      if (this.#isOver || !this.frame) return;
      const fields = { token: value, answer: 'page', ...asked };
      if (!postInto(this.frame.name, action, fields)) this.fail({ error: 'blocked' });
    };
    Promise.resolve(token)
      .then((value) => {
        if (typeof value === 'string' && value !== '') return value;
        throw new TypeError(`A token is a text, not ${value === '' ? 'empty' : typeof value}`);
      })
      .then(post, (cause: unknown) => this.fail({ error: 'no_token' }, cause));
  }

  /** @returns whether something has loaded in its frame; a page of the instance has to answer by now */
  expectAnswer(): boolean {
    if (this.#isOver || !this.frame || isBlank(this.frame)) return false;
    this.limit(ANSWER_MS, 'unreachable');
    this.after(300, () => void this.#probe());
    return true;
  }

  /** Asks by itself whether the instance can be reached, where the policy of the host page lets it. */
  async #probe(): Promise<void> {
    let isForbidden = false;
    const note = () => (isForbidden = true);
    document.addEventListener('securitypolicyviolation', note);
    try {
      await fetch(`${this.origin}/embed.js`, { mode: 'no-cors', cache: 'no-store' });
    } catch {
      // A browser may say that the policy forbids it a little later than that it did not work.
      await new Promise((resolve) => setTimeout(resolve, 200));
      if (!isForbidden && this.#timers.length > 1) this.fail({ error: 'unreachable' });
    }
    document.removeEventListener('securitypolicyviolation', note);
  }

  /** @param cause of a failure outside the instance, such as that of the promise of a token */
  fail(failure: LoginFailure, cause?: unknown): void {
    if (!this.#end()) return;
    const { during } = this;
    const error = new Error(`The ${during} failed: ${failure.error}`, { cause });
    this.#outcome.reject(Object.assign(error, { during, ...failure }));
    this.onEnd(failure);
  }

  succeed(session?: EmbeddedSession): void {
    if (!this.#end()) return;
    this.#outcome.resolve(session);
    this.onEnd();
  }

  /** @returns whether it was still in progress */
  #end(): boolean {
    const wasOver = this.#isOver;
    this.#isOver = true;
    this.#timers.splice(0).forEach(clearTimeout);
    this.frame?.remove();
    return !wasOver;
  }
}
