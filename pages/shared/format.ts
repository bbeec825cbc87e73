// Numbers, times and names in the page's language.
import { language } from './language.js';

/** Units of relative time with their length in seconds, the longest first; months and years are averages. */
const UNITS: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_556_952],
  ['month', 2_629_746],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

export function formatNumber(count: number): string {
  return new Intl.NumberFormat(language.value).format(count);
}

/** @returns the time that has passed, in words; undefined if it is less than a minute, or negative by this machine's clock */
export function timeAgo(moment: Date, now: number): string | undefined {
  const seconds = (now - moment.getTime()) / 1000;
  const found = UNITS.find(([, unitSeconds]) => seconds >= unitSeconds);
  if (found === undefined) return undefined;
  const [unit, length] = found;
  // Always numbers: "yesterday" depends on more than seconds.
  const format = new Intl.RelativeTimeFormat(language.value, { numeric: 'always' });
  return format.format(-Math.floor(seconds / length), unit);
}

/** In the reader's time zone. */
export function formatDate(moment: Date): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: 'long', timeStyle: 'short' }).format(moment);
}

/** Characters that turn the direction of the text around them (Unicode TR9, embeddings, overrides and isolates). */
const DIRECTION = /[\u202A-\u202E\u2066-\u2069]/g;

/** Removes characters that would reverse a part of a string. */
export function plainText(text: string): string {
  return text.replace(DIRECTION, '');
}

/** Removes characters that would reverse a part of a name. */
export function plainName(name: unknown): string {
  return typeof name === 'string' ? plainText(name).trim() : '';
}

/** Readable JSON. Characters that would change the direction of text are escaped. */
export function plainJson(value: unknown): string {
  const escape = (sign: string) => `\\u${sign.charCodeAt(0).toString(16)}`;
  return JSON.stringify(value, null, 2).replace(DIRECTION, escape);
}
