// What the edge of a flow refuses before any token is looked at.
import { ACCEPTED_CODING } from '../../platform/http/answers.js';

/** Why a request does not reach the flow. */
export type FlowRefusalKind =
  /** The host has taken the endpoint away, for example since its licence has run out. */
  | 'not_available'
  | 'not_enabled'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'not_a_form'
  | 'content_encoding_not_supported'
  | 'unsupported_grant_type'
  | 'field_invalid'
  | 'token_missing';

/** Headers that some refusals have. */
const HEADERS: Partial<Record<FlowRefusalKind, Readonly<Record<string, string>>>> = {
  // What is left of the body cannot be told from a next request.
  payload_too_large: { connection: 'close' },
  content_encoding_not_supported: ACCEPTED_CODING,
};

/** A request was refused for what it is, not for its token. The message names fields and limits, never values. */
export class FlowRefusal extends Error {
  constructor(
    readonly kind: FlowRefusalKind,
    message: string,
    readonly headers: Readonly<Record<string, string>> | undefined = HEADERS[kind],
    /** For the log: what came instead, as `told` makes it. */
    readonly found?: string,
  ) {
    super(message);
    this.name = 'FlowRefusal';
  }
}
