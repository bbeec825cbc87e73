// The canonical form of e-mail addresses for comparisons.
import { composed } from '../platform/text/characters.js';
import { domainOfAddress } from '../platform/text/email-address.js';

/**
 * @rule D4 E-mail addresses are compared case-insensitively, in Unicode NFC, with the domain in ASCII. See
 * `normalized_email` in user.repository.ts: its unique constraint prevents a second spelling. Normalized
 * again after lower-casing, which can decompose a letter. An invalid domain stays as it is.
 */
export function normalizeEmail(email: string): string {
  const text = composed(composed(email).toLowerCase());
  const domain = domainOfAddress(email);
  return domain === undefined ? text : `${text.slice(0, text.lastIndexOf('@') + 1)}${domain}`;
}
