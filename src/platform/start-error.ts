// Setup errors, which end the start.

/**
 * An error that the operator can correct, with a message that says how. Nest prints the stack of an error that
 * ends the start, so the stack is only the message.
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

/** Returns the function with its errors converted to `StartError`. */
export function withStartErrors<Needs extends unknown[], Result>(
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
