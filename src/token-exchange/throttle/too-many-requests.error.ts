// The refusal of a throttled request, before the exception filter of a flow or of the API gives it a body.

/** A client is over its limit. `retryAfterSeconds`: whole seconds until its window ends, at least one. */
export class TooManyRequestsError extends Error {
  override readonly name = 'TooManyRequestsError';

  constructor(readonly retryAfterSeconds: number) {
    super(`too many requests; the next one passes in ${retryAfterSeconds} s`);
  }
}
