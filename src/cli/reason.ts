// Says in one line what went wrong in somebody else's code.

/** What an error of somebody else's code says, in one line. */
export function reasonOf(error: unknown): string {
  const { message, code, errors } = (error ?? {}) as Partial<NodeJS.ErrnoException & AggregateError>;
  // Node.js tries every address of a host name, and puts the failures under an error without a message.
  if (!message && Array.isArray(errors)) return reasonOf(errors[0]);
  return (message || code || 'unknown fault').split('\n', 1)[0] ?? '';
}
