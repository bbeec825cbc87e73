// What a guard, pipe or interceptor of the host has refused before the flow was reached.
import { HttpException, HttpStatus } from '@nestjs/common';

/** A refusal in words that both flows can put into a body of their own. */
export interface HostRefusal {
  readonly status: number;
  /** The stable word for programs. */
  readonly error: string;
  readonly message: string;
}

const WORDS: Readonly<Record<number, string>> = {
  [HttpStatus.UNAUTHORIZED]: 'unauthorized',
  [HttpStatus.FORBIDDEN]: 'forbidden',
  [HttpStatus.NOT_FOUND]: 'not_found',
  [HttpStatus.TOO_MANY_REQUESTS]: 'too_many_requests',
  [HttpStatus.SERVICE_UNAVAILABLE]: 'temporarily_unavailable',
};

/** Undefined for whatever else ended a request: that is a fault. */
export function hostRefusalOf(error: unknown): HostRefusal | undefined {
  if (!(error instanceof HttpException)) return undefined;
  const status = error.getStatus();
  const word = WORDS[status] ?? (status < 500 ? 'refused' : 'internal_error');
  return { status, error: word, message: error.message };
}
