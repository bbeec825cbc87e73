// The refusal of a request that may well pass in a few seconds, and its `Retry-After`.
import { ServiceUnavailableException } from '@nestjs/common';

/** Seconds after which a request is worth another try, by what it was refused for. */
export const RETRY_AFTER_SECONDS = {
  /** Work that is done one at a time, or two, and takes about that long. */
  queue: 1,
  /** A fail-over takes some seconds, contention less. Sooner, most requests would be refused again. */
  database: 2,
  /** For what the service does not know now, such as revocations: it retries to read them within that time. */
  unknown: 5,
};

/** The header of an answer in OpenAPI. */
export const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds', schema: { type: 'integer', minimum: 1 } },
} as const;

/** A 503: the same work can be asked for again. The message says whether that needs a new token. */
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
