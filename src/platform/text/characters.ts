// Counts and normalizes characters. Limits are in code points, as in PostgreSQL.

/** This is far above the limits of all strings that are compared in NFC. */
const MAX_COMPOSED_CHARACTERS = 2_000;

/**
 * A string in Unicode NFC. Strings above all limits are returned unchanged: normalizing a run of combining
 * marks takes quadratic time.
 */
export function composed(text: string): string {
  return text.length > MAX_COMPOSED_CHARACTERS ? text : text.normalize('NFC');
}

/**
 * Whether a string has more than `limit` characters. A character is one or two UTF-16 units, so most strings
 * need no counting, and no string longer than twice its limit is split.
 */
export function hasMoreCharacters(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  return text.length > 2 * limit || [...text].length > limit;
}

/** The first `limit` characters of a string. Never splits a code point. */
export function firstCharacters(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return [...text.slice(0, 2 * limit)].slice(0, limit).join('');
}
