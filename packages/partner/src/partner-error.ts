// The one error that the package throws, told apart by its code.

/** What the token endpoint answers; docs/endpoints.md of the instance says when. */
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
 * What was found out here. `invalid_option`: an option or argument is wrong, nothing was sent. `network_error`: no answer came, and
 * the instance may or may not have seen the token. `timeout`: the time of the call is over. `aborted`: by its signal.
 * `unexpected_answer`: whatever answered is no token endpoint of this kind, a proxy for example.
 */
export type LocalErrorCode = 'invalid_option' | 'network_error' | 'timeout' | 'aborted' | 'unexpected_answer';

export type PartnerErrorCode = InstanceErrorCode | LocalErrorCode;

/** What is known of a failure beside its code. */
export interface PartnerErrorDetails {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly clockOffsetSeconds?: number | undefined;
  readonly tries?: number | undefined;
  readonly cause?: unknown;
}

/** A failure. Its text has no token, key or claim. */
export class PartnerError extends Error {
  override readonly name = 'PartnerError';
  /** Status of the answer; undefined where none came. */
  readonly status: number | undefined;
  /** `X-Request-Id` of the answer. `explain` takes it, and the instance's administrator finds the cause by it. */
  readonly requestId: string | undefined;
  /** What `Retry-After` has asked for, in seconds, of a 429 or 503. */
  readonly retryAfterSeconds: number | undefined;
  /** This machine's clock less that of the answer (`Date`), in seconds: above 0 this one is ahead. Right to a second. */
  readonly clockOffsetSeconds: number | undefined;
  /** How many requests were sent, each with a token of its own. */
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
