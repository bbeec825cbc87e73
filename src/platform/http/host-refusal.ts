// Refusals by an exception of Nest: from a guard, pipe or interceptor of the host or of this package.
import { HttpException, HttpStatus } from '@nestjs/common';
import { TemporarilyUnavailableException } from './temporarily-unavailable.exception.js';

/** A refusal in words that both flows can put into a body of their own. */
export interface HostRefusal {
  readonly status: number;
  /** The stable word for programs. */
  readonly error: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const WORDS: Readonly<Record<number, string>> = {
  [HttpStatus.UNAUTHORIZED]: 'unauthorized',
  [HttpStatus.FORBIDDEN]: 'forbidden',
  [HttpStatus.NOT_FOUND]: 'not_found',
  [HttpStatus.TOO_MANY_REQUESTS]: 'too_many_requests',
  [HttpStatus.SERVICE_UNAVAILABLE]: 'temporarily_unavailable',
};

/** Undefined for any other error: that is a fault. */
export function hostRefusalOf(error: unknown): HostRefusal | undefined {
  if (!(error instanceof HttpException)) return undefined;
  const status = error.getStatus();
  const word = WORDS[status] ?? (status < 500 ? 'refused' : 'internal_error');
  return { status, error: word, message: messageOf(error), headers: headersOf(error) };
}

/** Nest makes a message of the name of our class, and leaves ours in the body. */
function messageOf(error: HttpException): string {
  const body = error instanceof TemporarilyUnavailableException ? error.getResponse() : undefined;
  return (body as { message: string } | undefined)?.message ?? error.message;
}

function headersOf(error: HttpException): HostRefusal['headers'] {
  if (!(error instanceof TemporarilyUnavailableException)) return undefined;
  return { 'retry-after': String(error.retryAfterSeconds) };
}
