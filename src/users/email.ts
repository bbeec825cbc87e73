// The form in which e-mail addresses are compared.
import { composed } from '../platform/text/characters.js';
import { domainOfAddress } from '../platform/text/email-address.js';

/**
 * @rule D4 E-mail addresses are compared case-insensitively, in Unicode NFC, with the domain in ASCII.
 * See `normalized_email` in user.repository.ts: its unique constraint keeps a second spelling out.
 * Normalised again after lowering, since lowering can take a letter apart. A domain that is none stays as it is.
 */
export function normalizeEmail(email: string): string {
  const text = composed(composed(email).toLowerCase());
  const domain = domainOfAddress(email);
  return domain === undefined ? text : `${text.slice(0, text.lastIndexOf('@') + 1)}${domain}`;
}
