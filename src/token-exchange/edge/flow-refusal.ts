// What the edge of a flow refuses before any token is looked at.

/** Why a request does not reach the flow. */
export type FlowRefusalKind =
  /** The licence has run out: the endpoint is not there. */
  | 'not_available'
  | 'not_enabled'
  | 'payload_too_large'
  | 'not_a_form'
  | 'content_encoding_not_supported'
  | 'unsupported_grant_type'
  | 'field_invalid'
  | 'token_missing';

/** A request was refused for what it is, not for its token. The message names fields and limits, never values. */
export class FlowRefusal extends Error {
  constructor(
    readonly kind: FlowRefusalKind,
    message: string,
  ) {
    super(message);
    this.name = 'FlowRefusal';
  }
}
