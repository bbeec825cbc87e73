// The rules for operators' passwords.
import { isUnstorable } from '../../platform/json/strict-json.js';
import { composed, hasMoreCharacters } from '../../platform/text/characters.js';

const MIN_PASSWORD_CHARACTERS = 12;
const MAX_PASSWORD_CHARACTERS = 200;

/**
 * Two keyboards may produce different code points for the same password (RFC 8265 §4.2.2: NFC). Nothing else
 * is changed: case, spaces and width stay.
 */
export function normalizePassword(password: string): string {
  return composed(password);
}

/**
 * The rule that a new password breaks, in words that follow its name; undefined if it is allowed.
 * @rule D106 A password has 12 to 200 characters, counted as code points, and no other rule (NIST SP 800-63B
 * §5.1.1.2).
 */
export function faultOfPassword(password: string): string | undefined {
  const text = normalizePassword(password);
  if (isUnstorable(text)) return 'has characters that are no text';
  if (!hasMoreCharacters(text, MIN_PASSWORD_CHARACTERS - 1))
    return `must have at least ${MIN_PASSWORD_CHARACTERS} characters`;
  if (hasMoreCharacters(text, MAX_PASSWORD_CHARACTERS))
    return `must have at most ${MAX_PASSWORD_CHARACTERS} characters`;
  return undefined;
}
