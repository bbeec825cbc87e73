// A log: pino, or any other logger of structured lines.

/** Takes lines of some fields and a message. No field holds a secret, a token or an e-mail address. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Injection token of the log. */
export const LOGGER = Symbol('LOGGER');

/** Drops every line. */
export const SILENT: Log = { debug: drop, info: drop, warn: drop, error: drop };

function drop(): void {
  // Not wanted.
}
