// The refusal of a request that may pass in a few seconds, in fixed words.
import { ServiceUnavailableException } from '@nestjs/common';
import { RETRY_AFTER_SECONDS } from './retry-after.js';

/** A 503: the request can be sent again. Unless the message says otherwise nothing was used up for it. */
export class TemporarilyUnavailableException extends ServiceUnavailableException {
  /**
   * @param message for people; names nothing of the request
   * @param retryAfterSeconds for `Retry-After`
   */
  constructor(
    message: string,
    readonly retryAfterSeconds = RETRY_AFTER_SECONDS.unknown,
  ) {
    super({ error: 'temporarily_unavailable', message });
  }
}
