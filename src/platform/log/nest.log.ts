// The log that a host has without bringing its own: Nest's.
import { Logger } from '@nestjs/common';
import type { Log } from './log.js';

/** Writes each line as its message with its fields as JSON behind it. */
export class NestLog implements Log {
  private readonly logger = new Logger('TokenExchange');

  debug(fields: object, message: string): void {
    this.logger.debug(lineOf(fields, message));
  }

  info(fields: object, message: string): void {
    this.logger.log(lineOf(fields, message));
  }

  warn(fields: object, message: string): void {
    this.logger.warn(lineOf(fields, message));
  }

  error(fields: object, message: string): void {
    const { err } = fields as { err?: unknown };
    this.logger.error(lineOf(fields, message), err instanceof Error ? err.stack : undefined);
  }
}

function lineOf(fields: object, message: string): string {
  const texts = JSON.stringify(fields, (_name, value: unknown) =>
    value instanceof Error ? `${value.name}: ${value.message}` : value,
  );
  return texts === '{}' ? message : `${message} ${texts}`;
}
