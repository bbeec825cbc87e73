// Counts characters as limits mean them: code points, which is also what PostgreSQL counts.

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
