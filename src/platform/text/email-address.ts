// Whether a text is written like an e-mail address, and of which domain it is.
import { domainToASCII, domainToUnicode } from 'node:url';
import isEmail from 'validator/lib/isEmail.js';

/** RFC 1035 §2.3.4, without the dot of the root. */
const MAX_DOMAIN_CHARACTERS = 253;
const DOMAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/;
/** Control, format and other characters without a picture of their own; odd spaces. A space may stand in a quoted local part. */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}]|(?! )\p{Z}/u;

/** As class-validator checks it, which asks the same function but is much more to load; but nothing in it may be invisible. */
export function isEmailAddress(value: unknown): boolean {
  if (typeof value !== 'string' || UNSEEN.test(value)) return false;
  return isEmail.default(value) && domainOfAddress(value) !== undefined;
}

/**
 * A domain in the one spelling in which domains are compared, lower-case ASCII. Undefined where a text is none, or is written with
 * characters that UTS 46 ignores or replaces (a soft hyphen, ⓞ for o), which make it look like another's.
 */
export function domainNamed(text: string): string | undefined {
  if (text.length > MAX_DOMAIN_CHARACTERS) return undefined;
  const domain = domainToASCII(text);
  return DOMAIN.test(domain) && isSpelling(text, domain) ? domain : undefined;
}

/** The domain of an e-mail address, spelt likewise; undefined where it has none that is a name. */
export function domainOfAddress(address: string): string | undefined {
  return domainNamed(address.slice(address.lastIndexOf('@') + 1));
}

/** Whether each label is that of the domain, in ASCII or Unicode, but for case and composition. */
function isSpelling(text: string, domain: string): boolean {
  // Most are written so: the rest takes five times as long.
  if (text === domain && !domain.includes('xn--')) return true;
  const ascii = domain.split('.');
  const unicode = domainToUnicode(domain).split('.');
  // Punycode of nothing that a domain may have: Node.js 24 takes it, older ones do not.
  if (ascii.some((label, index) => label.startsWith('xn--') && label === unicode[index])) return false;
  // Letter by letter: a Greek capital sigma at the end of a word would become another letter than elsewhere.
  const lowered = Array.from(text.normalize('NFC'), (letter) => letter.toLowerCase()).join('');
  const labels = lowered.normalize('NFC').split('.');
  return (
    labels.length === ascii.length &&
    labels.every((label, index) => label === ascii[index] || label === unicode[index])
  );
}
