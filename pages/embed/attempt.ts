// A login, renewal or sign-out in progress.
import type { EmbeddedInstanceError, EmbeddedSession, LoginFailure } from './events.js';
import type { TokenSource } from './options.js';

let count = 0;

export class Attempt {
  /** The page repeats it in its answer. */
  readonly id = (count += 1);
  readonly promise: Promise<EmbeddedSession | undefined>;
  isOver = false;
  #resolve!: (session?: EmbeddedSession) => void;
  #reject!: (error: Error) => void;
  readonly #timer: number;

  /** @param onEnd called once, with the failure if there is one */
  constructor(
    readonly during: EmbeddedInstanceError['during'],
    timeoutMs: number,
    private readonly onEnd: (failure?: LoginFailure) => void,
    readonly token: TokenSource = '',
    readonly everywhere = false,
  ) {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A host page need not handle the promise: events say the same.
    this.promise.catch(() => undefined);
    this.#timer = setTimeout(() => this.fail({ error: 'timeout' }), timeoutMs);
  }

  /** @param cause an error outside the instance, such as the rejection of a token */
  fail(failure: LoginFailure, cause?: unknown): void {
    if (!this.#end()) return;
    const { during } = this;
    const error = Object.assign(new Error(`The ${during} failed: ${failure.error}`), { during, ...failure });
    this.#reject(cause === undefined ? error : Object.assign(error, { cause }));
    this.onEnd(failure);
  }

  succeed(session?: EmbeddedSession): void {
    if (!this.#end()) return;
    this.#resolve(session);
    this.onEnd();
  }

  #end(): boolean {
    if (this.isOver) return false;
    clearTimeout(this.#timer);
    return (this.isOver = true);
  }
}
