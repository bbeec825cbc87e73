// What goes through the command socket: `POST /NAME-OF-THE-OPERATION` with its input in JSON, answered with lines of JSON.

/** A request with more bytes is refused. */
export const REQUEST_LIMIT_BYTES = 256 * 1024;

/** The version of the program that sends a request: one of another version gets an error that says so. */
export const VERSION_HEADER = 'x-version';

/** A line of the answer: pages as long as there are any, then one of the others, which is the last. */
export type AnswerLine =
  | { readonly page: readonly unknown[] }
  | { readonly result: unknown }
  /** Why it was not done, in words for the user of the command. */
  | { readonly refusal: string }
  /** It ended by a fault of the service, which has it in its log under this request id. */
  | { readonly fault: string };
