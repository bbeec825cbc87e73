// The output of commands: text for people, and JSON for programs with --json.
import { CommandError } from '../administration/command-error.js';
import { ConfigurationError } from '../config/load-config.js';

/** Receives output for a person or a program. */
export interface TextOutput {
  write(text: string): unknown;
  /** True once its reader has disconnected. Endless output then ends. */
  readonly isClosed?: boolean;
  /** True if a person watches, so progress can be shown. */
  readonly isTerminal?: boolean;
}

/**
 * Results go to standard output, everything else to standard error.
 * With --json a command prints one JSON document, or JSON lines for endless lists, and errors as JSON too.
 */
export class Answers {
  /** @param isJson whether a program reads the output */
  constructor(
    private readonly context: { readonly stdout: TextOutput; readonly stderr: TextOutput },
    readonly isJson: boolean,
  ) {}

  /** The one result of a command. */
  give(value: unknown, text: string): void {
    this.context.stdout.write(this.isJson ? `${JSON.stringify(value, null, 2)}\n` : text);
  }

  /** Prints a list. For people, an empty list prints only a remark on standard error. */
  giveList(values: readonly unknown[], text: () => string, nothing: string): void {
    this.give(values, values.length === 0 ? '' : text());
    if (values.length === 0 && !this.isJson) this.remark(nothing);
  }

  /** Prints some of many results. JSON has one object a line. */
  giveLines(values: readonly unknown[], text: () => string): void {
    this.context.stdout.write(
      this.isJson ? values.map((value) => `${JSON.stringify(value)}\n`).join('') : text(),
    );
  }

  /** Prints a remark on standard error. */
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

/** An error as `--json` writes it. It has details only if they add to the message. */
function shownError(error: unknown) {
  if (error instanceof ConfigurationError)
    return { message: 'The configuration has problems.', details: error.problems };
  if (error instanceof CommandError) return { message: error.summary, details: error.details };
  return { message: reasonOf(error), details: [] };
}

/** A message of one line for an error of third-party code. */
export function reasonOf(error: unknown): string {
  const { message, code, errors } = (error ?? {}) as Partial<NodeJS.ErrnoException & AggregateError>;
  // Node.js tries every address of a host name, and wraps the failures in an error without a message.
  if (!message && Array.isArray(errors)) return reasonOf(errors[0]);
  return (message || code || 'unknown error').split('\n', 1)[0] ?? '';
}

/**
 * Wrong usage: contradicting options, a missing terminal or option, or an invalid value.
 * Nothing has changed.
 */
export class MisuseError extends CommandError {
  override readonly name = 'MisuseError';
}

/** Files that the command would create exist. Nothing has changed. */
export class InPlaceError extends CommandError {
  override readonly name = 'InPlaceError';
}
