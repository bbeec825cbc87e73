// A login, renewal or sign-out in progress: its promise and its timers.

class Attempt {
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

  reject(error: string): void {
    const { during, outcome } = this;
    outcome.reject(Object.assign(new Error(`The ${during} failed: ${error}`), { during, error }));
  }
}
