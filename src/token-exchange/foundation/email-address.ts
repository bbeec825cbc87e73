// Whether a text is written like an e-mail address.
import isEmail from 'validator/lib/isEmail.js';

/** As class-validator judges it, which asks the same function but is much more to load. */
export function isEmailAddress(value: unknown): boolean {
  return typeof value === 'string' && isEmail.default(value);
}
