// Whether a text is written like an e-mail address, and of which domain it is.
import { domainToASCII } from 'node:url';
import isEmail from 'validator/lib/isEmail.js';

const DOMAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/;

/** As class-validator judges it, which asks the same function but is much more to load. */
export function isEmailAddress(value: unknown): boolean {
  return typeof value === 'string' && isEmail.default(value);
}

/** A domain in the one spelling in which domains are compared, lower-case ASCII; undefined where a text is none. */
export function domainNamed(text: string): string | undefined {
  const domain = domainToASCII(text).toLowerCase();
  return DOMAIN.test(domain) ? domain : undefined;
}

/** The domain of an e-mail address, spelt likewise; undefined where it has none that is a name. */
export function domainOfAddress(address: string): string | undefined {
  return domainNamed(address.slice(address.lastIndexOf('@') + 1));
}
