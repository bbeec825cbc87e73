// Checks the syntax of e-mail addresses, and reads their domains.
import { domainToASCII, domainToUnicode } from 'node:url';
import isEmail from 'validator/lib/isEmail.js';

/** RFC 1035 §2.3.4, without the root's dot. */
const MAX_DOMAIN_CHARACTERS = 253;
const DOMAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/;
/**
 * Control, format and other invisible characters, and unusual spaces. A quoted local part may contain a
 * space.
 */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}]|(?! )\p{Z}/u;

/**
 * Same check as class-validator, which calls the same function but is much larger to load. Also refuses
 * invisible characters.
 */
export function isEmailAddress(value: unknown): boolean {
  if (typeof value !== 'string' || UNSEEN.test(value)) return false;
  return isEmail.default(value) && domainOfAddress(value) !== undefined;
}

/**
 * A domain in its canonical form for comparisons, lower-case ASCII. Undefined if the string is not a domain,
 * or contains characters that UTS 46 ignores or replaces (a soft hyphen, ⓞ for o), which make it look like
 * another domain.
 */
export function domainNamed(text: string): string | undefined {
  if (text.length > MAX_DOMAIN_CHARACTERS) return undefined;
  const domain = domainToASCII(text);
  return DOMAIN.test(domain) && isSpelling(text, domain) ? domain : undefined;
}

/** The canonical domain of an e-mail address; undefined if it is not a name. */
export function domainOfAddress(address: string): string | undefined {
  return domainNamed(address.slice(address.lastIndexOf('@') + 1));
}

/** Whether each label equals the domain's label in ASCII or Unicode, ignoring case and composition. */
function isSpelling(text: string, domain: string): boolean {
  // True for most domains: the rest takes five times as long.
  if (text === domain && !domain.includes('xn--')) return true;
  const ascii = domain.split('.');
  const unicode = domainToUnicode(domain).split('.');
  // Punycode that decodes to nothing valid: Node.js 24 accepts it, older versions do not.
  if (ascii.some((label, index) => label.startsWith('xn--') && label === unicode[index])) return false;
  // Letter by letter: at the end of a word, a Greek capital sigma would become a different letter.
  const lowered = Array.from(text.normalize('NFC'), (letter) => letter.toLowerCase()).join('');
  const labels = lowered.normalize('NFC').split('.');
  return (
    labels.length === ascii.length &&
    labels.every((label, index) => label === ascii[index] || label === unicode[index])
  );
}
