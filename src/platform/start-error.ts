// Setup errors, which end the start.

/**
 * The operator can correct the cause, and the message says how. Nest prints the stack of an error that ends
 * the start. Here the stack is the message, because the code is not at fault.
 */
export class StartError extends Error {
  /** Private, because Node.js prints the properties of an uncaught error. */
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

/** @returns the function, with its errors converted to `StartError` */
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
