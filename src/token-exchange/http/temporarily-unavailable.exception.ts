// The refusal of a request that may well pass in a few seconds, in words of ours whoever answers it.
import { ServiceUnavailableException } from '@nestjs/common';

/** A 503: nothing was used up for the request, and it can be sent again. */
export class TemporarilyUnavailableException extends ServiceUnavailableException {
  /** For `Retry-After`: some of the readings that it waits for have been tried again by then. */
  readonly retryAfterSeconds = 5;

  /** @param message for people; names nothing of the request */
  constructor(message: string) {
    super({ error: 'temporarily_unavailable', message });
  }
}
