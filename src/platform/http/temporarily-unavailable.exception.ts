// A refusal that may succeed in a few seconds, and its `Retry-After`.
import { ServiceUnavailableException } from '@nestjs/common';

/** Seconds until a retry makes sense, by the cause of the refusal. */
export const RETRY_AFTER_SECONDS = {
  /** Work that runs one or two at a time and takes about a second. */
  queue: 1,
  /** A fail-over takes some seconds, contention less. Most earlier retries would be refused again. */
  database: 2,
  /** For data that the service lacks, such as revocations: it tries to read them again within this time. */
  unknown: 5,
};

/** The response header in OpenAPI. */
export const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds', schema: { type: 'integer', minimum: 1 } },
} as const;

/** A 503: the client can send the same request again. The message says whether it needs a new token. */
export class TemporarilyUnavailableException extends ServiceUnavailableException {
  /**
   * @param message for people; contains nothing of the request
   * @param retryAfterSeconds for `Retry-After`
   */
  constructor(
    message: string,
    readonly retryAfterSeconds = RETRY_AFTER_SECONDS.unknown,
  ) {
    super({ error: 'temporarily_unavailable', message });
  }
}
