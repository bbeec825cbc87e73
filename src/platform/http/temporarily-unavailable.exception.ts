// The refusal of a request that may well pass in a few seconds, in words of ours whoever answers it.
import { ServiceUnavailableException } from '@nestjs/common';

/** A 503: the request can be sent again. Unless the message says otherwise nothing was used up for it. */
export class TemporarilyUnavailableException extends ServiceUnavailableException {
  /**
   * @param message for people; names nothing of the request
   * @param retryAfterSeconds for `Retry-After`: some of the readings that it waits for have been tried again by then
   */
  constructor(
    message: string,
    readonly retryAfterSeconds = 5,
  ) {
    super({ error: 'temporarily_unavailable', message });
  }
}
