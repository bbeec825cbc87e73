// How a command says that it cannot do its work.

/** A command cannot do its work, for a reason that its user can do something about. Never holds secret values. */
export class CommandError extends Error {
  /** @param details one line each, listed below the message */
  constructor(message: string, details: readonly string[] = []) {
    super([message, ...details.map((line) => `  - ${line}`)].join('\n'));
    this.name = 'CommandError';
  }
}

/** What an error of a foreign library says, in one line. */
export function reasonOf(error: unknown): string {
  // Node.js tries every address of a host name, and puts the failures under an error without a message.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return 'unknown fault';
  const text = first.message || ((first as NodeJS.ErrnoException).code ?? first.name);
  return text.split('\n', 1)[0] ?? '';
}
