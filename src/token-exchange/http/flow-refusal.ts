// Refusals of a flow before any token is looked at.
import type { FlowRefusalKind } from '../refusals/refusals.js';
import { REQUEST_REFUSALS } from '../refusals/refusals.js';

/** A request was refused for what it is, not for its token. The message names fields and limits, never values. */
export class FlowRefusal extends Error {
  constructor(
    readonly kind: FlowRefusalKind,
    message: string,
    readonly headers: Readonly<Record<string, string>> | undefined = REQUEST_REFUSALS[kind].headers,
    /** For the log: what came instead, as `printable` makes it. */
    readonly found?: string,
  ) {
    super(message);
    this.name = 'FlowRefusal';
  }
}

export function notEnabled(what: string): FlowRefusal {
  return new FlowRefusal('not_enabled', `${what} is not enabled on this instance`);
}

/** A field is missing or malformed, or the form as a whole. */
export function invalidField(message: string): FlowRefusal {
  return new FlowRefusal('field_invalid', message);
}
