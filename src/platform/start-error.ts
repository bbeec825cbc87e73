// Faults of the set-up, which end the start.

/**
 * An operator can correct the cause, and the message says how. Nest prints the stack of an error that ends the start. Here the
 * stack is the message, because no line of code is at fault.
 */
export class StartError extends Error {
  /** Private, because Node.js prints the properties of an error that a host does not catch. */
  readonly #exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.stack = message;
    this.#exitCode = exitCode;
  }

  get exitCode(): number {
    return this.#exitCode;
  }
}

/** @returns the function, which throws its errors as `StartError` */
export function plainly<Needs extends unknown[], Result>(
  make: (...needs: Needs) => Result,
): (...needs: Needs) => Result {
  return (...needs) => {
    try {
      return make(...needs);
    } catch (error) {
      throw new StartError(error instanceof Error ? error.message : String(error));
    }
  };
}
