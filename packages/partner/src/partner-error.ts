// The only error class of the package. Codes distinguish its errors.

/** Codes of the token endpoint. The instance's docs/endpoints.md describes them. */
const INSTANCE_CODES = [
  'invalid_grant',
  'invalid_dpop_proof',
  'use_dpop_nonce',
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'unsupported_grant_type',
  'too_many_requests',
  'temporarily_unavailable',
  'server_error',
  'not_found',
  'method_not_allowed',
] as const;

export type InstanceErrorCode = (typeof INSTANCE_CODES)[number];

/**
 * Codes of the client. `invalid_option`: an option or argument is wrong, and nothing was sent. `network_error`: there was no answer, and
 * the instance may have used up the token. `timeout`: the call's time has passed. `aborted`: its signal has aborted.
 * `unexpected_answer`: the response did not come from a token endpoint. A proxy may have sent it.
 */
export type LocalErrorCode = 'invalid_option' | 'network_error' | 'timeout' | 'aborted' | 'unexpected_answer';

export type PartnerErrorCode = InstanceErrorCode | LocalErrorCode;

/** Details of a failure. */
export interface PartnerErrorDetails {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly clockOffsetSeconds?: number | undefined;
  readonly tries?: number | undefined;
  readonly cause?: unknown;
}

/** A failure. Its message contains no token, key or claim. */
export class PartnerError extends Error {
  override readonly name = 'PartnerError';
  /** The answer's status; undefined if there was no answer. */
  readonly status: number | undefined;
  /** The response's `X-Request-Id`. Pass it to `explain`, or give it to the instance's operator, who can find the cause with it. */
  readonly requestId: string | undefined;
  /** `Retry-After` of a 429 or 503, in seconds. */
  readonly retryAfterSeconds: number | undefined;
  /** This machine's clock minus the answer's `Date`, in seconds, accurate to a second. This clock is ahead if it is positive. */
  readonly clockOffsetSeconds: number | undefined;
  /** The number of requests that were sent, each with its own token. */
  readonly tries: number;

  constructor(
    readonly code: PartnerErrorCode,
    message: string,
    details: PartnerErrorDetails = {},
  ) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.clockOffsetSeconds = details.clockOffsetSeconds;
    this.tries = details.tries ?? 0;
  }
}

export function isInstanceErrorCode(word: unknown): word is InstanceErrorCode {
  return (INSTANCE_CODES as readonly unknown[]).includes(word);
}

export function invalidOption(message: string, cause?: unknown): PartnerError {
  return new PartnerError('invalid_option', message, cause === undefined ? {} : { cause });
}
