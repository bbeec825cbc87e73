// Reads how long an HTTP answer says that it is fresh.

const MIN_SECONDS = 60;
const MAX_SECONDS = 86_400;
/** A text that is never closed reaches to the end of the field. */
const QUOTED_STRING = /"(?:[^"\\]|\\.)*(?:"|\\?$)/g;
const MAX_AGE = /^max-age(?:=|$)/i;

/**
 * The `max-age` of a Cache-Control field, held within 60 to 86,400 seconds (D34); undefined where there is none that
 * counts. Given twice, in quotes or not as a number it does not count: RFC 9111 §4.2.1 has a cache distrust such
 * freshness, and §5.2.2.1 forbids the quotes. A number too long to hold is a very large one (§1.2.2).
 * The Age field is not subtracted: the lower bound would swallow the difference in most cases.
 * @param field the value of the field, several lines joined by commas
 */
export function maxAgeSeconds(field: string | undefined): number | undefined {
  const [maxAge, ...others] = directivesOf(field ?? '').filter((directive) => MAX_AGE.test(directive));
  const seconds = maxAge?.replace(MAX_AGE, '') ?? '';
  if (others.length > 0 || !/^\d+$/.test(seconds)) return undefined;
  return Math.min(Math.max(Number(seconds), MIN_SECONDS), MAX_SECONDS);
}

/** Quoted strings are emptied first, because a comma or a whole directive inside them is only text. */
function directivesOf(field: string): string[] {
  return field
    .replace(QUOTED_STRING, '""')
    .split(',')
    .map((directive) => directive.trim());
}
