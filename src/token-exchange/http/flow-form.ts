// What both flows do with a form: refuse a broken one, and read tokens out of it.
import { FlowRefusal } from './flow-refusal.js';
import type { Form } from './form.js';
import { FormError } from './form.js';

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
