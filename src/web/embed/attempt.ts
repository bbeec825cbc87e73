// A login, renewal or sign-out in progress: its promise and its timers.
import type { EmbeddedInstanceError, EmbeddedSession, LoginFailure } from './options.js';

export class Attempt {
  readonly outcome = Promise.withResolvers<EmbeddedSession | undefined>();
  /** The first is that of the limit; the others wait until something that has loaded answers. */
  readonly timers: number[] = [];

  /** @param frame of its own; a sign-out has one only where the page that is shown does not do it */
  constructor(
    readonly during: EmbeddedInstanceError['during'],
    public frame?: HTMLIFrameElement,
  ) {
    // A host page need not handle the promise: events say the same.
    this.outcome.promise.catch(() => undefined);
  }

  after(milliseconds: number, act: () => void): void {
    this.timers.push(setTimeout(act, milliseconds));
  }

  /** A page of the instance has answered: from now on only the limit counts. */
  answer(): void {
    this.timers.splice(1).forEach(clearTimeout);
  }

  /** @param cause of a failure outside the instance, such as that of the promise of a token */
  reject(failure: LoginFailure, cause?: unknown): void {
    const { during, outcome } = this;
    const error = new Error(`The ${during} failed: ${failure.error}`, { cause });
    outcome.reject(Object.assign(error, { during, ...failure }));
  }
}
