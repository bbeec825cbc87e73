// Reads answers by the type that a test expects of them.

/** The body as JSON. Nothing checks the type: a test that misreads an answer fails by itself. */
export function jsonOf<T = Record<string, unknown>>(answer: Response): Promise<T> {
  return answer.json() as Promise<T>;
}

/** The answer to a successful exchange. */
export interface Issued {
  access_token: string;
  scope?: string;
}
