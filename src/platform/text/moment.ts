// Parses dates and times (RFC 3339).

/** A date, or a time with its offset from UTC (§5.6). Seconds are optional. */
const MOMENT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Undefined for any other string, and for a day that its month does not have. A day begins at midnight UTC.
 */
export function momentOf(text: string): Date | undefined {
  const day = MOMENT.exec(text)?.[1];
  return day !== undefined && isInCalendar(day) && !Number.isNaN(Date.parse(text))
    ? new Date(text)
    : undefined;
}

/** The Date constructor accepts the 30th of February as the 2nd of March. */
function isInCalendar(day: string): boolean {
  const midnight = new Date(day);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}
