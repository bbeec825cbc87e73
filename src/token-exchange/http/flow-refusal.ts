// Refusals of a flow before any token is looked at.
import type { FlowRefusalKind } from '../refusals/refusals.js';
import { REQUEST_REFUSALS } from '../refusals/refusals.js';
import type { Form } from './form.js';
import { FormError } from './form.js';

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

/** The form itself, if it is well-formed. @throws FlowRefusal `field_invalid`, naming the field where that is known */
export function wellFormed(form: Form): Form {
  try {
    form.refuseBroken();
    return form;
  } catch (error) {
    throw error instanceof FormError ? new FlowRefusal('field_invalid', error.message) : error;
  }
}

/** A token of the form, without the white space that comes along where it was copied from a file; empty: there is none. */
export function trimmed(form: Form, name: string): string {
  return (form.get(name) ?? '').trim();
}
