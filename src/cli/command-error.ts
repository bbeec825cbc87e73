// How a command says that it cannot do its work.

/** A command cannot do its work, for a reason that its user can do something about. Never holds secret values. */
export class CommandError extends Error {
  /** @param details one line each, listed below the message */
  constructor(message: string, details: readonly string[] = []) {
    super([message, ...details.map((line) => `  - ${line}`)].join('\n'));
    this.name = 'CommandError';
  }
}

/** What an error of somebody else's code says, in one line. */
export function reasonOf(error: unknown): string {
  const { message, code, errors } = (error ?? {}) as Partial<NodeJS.ErrnoException & AggregateError>;
  // Node.js tries every address of a host name, and puts the failures under an error without a message.
  if (!message && Array.isArray(errors)) return reasonOf(errors[0]);
  return (message || code || 'unknown fault').split('\n', 1)[0] ?? '';
}
