// Turns what is wrong with a form into the refusal of a flow.
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
