// What a flow refuses before any token is looked at.
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
