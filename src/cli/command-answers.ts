// How commands answer: with text for people, with --json for programs.
import { CommandError } from '../administration/command-error.js';
import { ConfigurationError } from '../config/load-config.js';

/** Takes text that a person or a program is to read. */
export interface TextOutput {
  write(text: string): unknown;
  /** Whether its reader has disconnected: endless output ends then. */
  readonly isClosed?: boolean;
  /** Whether a person watches, who may see progress. */
  readonly isTerminal?: boolean;
}

/**
 * Results go to standard output, everything else to standard error.
 * With --json a command prints one JSON document, or JSON lines for endless lists, and errors as JSON too (D116).
 */
export class Answers {
  /** @param isJson whether programs read them */
  constructor(
    private readonly context: { readonly stdout: TextOutput; readonly stderr: TextOutput },
    readonly isJson: boolean,
  ) {}

  /** The one result of a command. */
  give(value: unknown, text: string): void {
    this.context.stdout.write(this.isJson ? `${JSON.stringify(value, null, 2)}\n` : text);
  }

  /** A list. For people an empty one prints nothing on standard output, and says on standard error that it is empty. */
  giveList(values: readonly unknown[], text: () => string, nothing: string): void {
    this.give(values, values.length === 0 ? '' : text());
    if (values.length === 0 && !this.isJson) this.remark(nothing);
  }

  /** Some of many results: one JSON object a line. */
  giveLines(values: readonly unknown[], text: () => string): void {
    this.context.stdout.write(
      this.isJson ? values.map((value) => `${JSON.stringify(value)}\n`).join('') : text(),
    );
  }

  /** What the user should know beside the result. */
  remark(text: string): void {
    this.context.stderr.write(this.isJson ? `${JSON.stringify({ remark: text })}\n` : `${text}\n`);
  }

  fail(error: unknown, exitCode: number): void {
    const shown = { exitCode, ...shownError(error) };
    this.context.stderr.write(`${this.isJson ? JSON.stringify({ error: shown }) : errorText(error)}\n`);
  }
}

function errorText(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  return `error: ${error instanceof CommandError ? error.message : reasonOf(error)}`;
}

/** As `--json` writes it; without details where the message says it all. */
function shownError(error: unknown) {
  if (error instanceof ConfigurationError)
    return { message: 'The configuration has problems.', details: error.problems };
  if (error instanceof CommandError) return { message: error.summary, details: error.details };
  return { message: reasonOf(error), details: [] };
}

/** An error of third-party code, in one line. */
export function reasonOf(error: unknown): string {
  const { message, code, errors } = (error ?? {}) as Partial<NodeJS.ErrnoException & AggregateError>;
  // Node.js tries every address of a host name, and puts the failures under an error without a message.
  if (!message && Array.isArray(errors)) return reasonOf(errors[0]);
  return (message || code || 'unknown fault').split('\n', 1)[0] ?? '';
}

/**
 * Called wrongly: options that do not go together, a terminal or an option that is missing, or a value that an option cannot have.
 * Nothing was done.
 */
export class MisuseError extends CommandError {
  override readonly name = 'MisuseError';
}

/** Files that the command would create exist already. Nothing was changed. */
export class InPlaceError extends CommandError {
  override readonly name = 'InPlaceError';
}
