// Counts and composes characters. Limits mean code points, which is also what PostgreSQL counts.

/** Far above every limit of a text that is compared in NFC. */
const MAX_COMPOSED_CHARACTERS = 2_000;

/**
 * A text in Unicode NFC. A longer one than any limit allows stays as it is, because composing a run of combining marks takes time in the
 * square of its length.
 */
export function composed(text: string): string {
  return text.length > MAX_COMPOSED_CHARACTERS ? text : text.normalize('NFC');
}

/**
 * Whether a text has more than `limit` characters. A character is one or two UTF-16 units, so most texts need no
 * counting, and no text is taken apart that is over twice its limit.
 */
export function hasMoreCharacters(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  return text.length > 2 * limit || [...text].length > limit;
}

/** The first `limit` characters of a text: cut between code points, so that none is cut in half. */
export function firstCharacters(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return [...text.slice(0, 2 * limit)].slice(0, limit).join('');
}
