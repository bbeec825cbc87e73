// Makes external input safe to show to an operator: escaped, truncated, and without e-mail addresses, tokens
// or keys.
import { firstCharacters } from './characters.js';
import { parsedUrl } from './url.js';

/** The maximum length of what is shown. */
const MAX_PRINTED_CHARACTERS = 200;
/** Covers secrets that begin in the shown part. The patterns take quadratic time. */
const MAX_CHECKED_CHARACTERS = 512;

/**
 * Parts of an e-mail address (also percent-encoded), of a token (by its fixed beginning), of a PEM, and of a
 * key.
 */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/(?:@|%40)[^\s@]*\.[^\s@]/i, 'not shown: it looks like an e-mail address'],
  [/eyJ[\w-]{8}|e[yw][\w-]{6,}\.[\w-]{8}/, 'not shown: it looks like a token'],
  [/-----BEGIN/, 'not shown: it looks like a key'],
  [/[\w+-]{65}/, 'not shown: too long to be a name'],
];
/**
 * Invisible characters: control and format characters, lone surrogates, unusual spaces. Also the escape
 * character.
 */
const UNSEEN = /(?! )[\p{C}\p{Z}\\]/gu;
const SPACE_AT_AN_END = /^ | $/g;

/** Names of keys, algorithms and types, with invisible characters escaped. */
const NAME = /^(?:[\w.+/:;=~, -]|\\u\{[0-9a-f]+\})*…?$/;

/**
 * Like `printable`, for values without a verified signature. Shows only names, so that strangers cannot write
 * sentences, markup or instructions for readers of the log, or words that a receiver of the trail refuses.
 */
export function printableName(value: unknown): string {
  const text = printable(value);
  return typeof value !== 'string' || NAME.test(text) || text.startsWith('(not shown')
    ? text
    : `(${value.length} characters that make no name)`;
}

/** A string of any length with invisible characters as `\u{...}`: for what is recorded as it was written. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (unseen) => `\\u{${(unseen.codePointAt(0) ?? 0).toString(16)}}`);
}

/**
 * A service's URL without its potential secrets (user, password and query), and with invisible characters
 * escaped.
 */
export function printableAddress(uri: string): string {
  const address = uri.replace(/[?#].*$/s, '');
  const url = parsedUrl(address);
  if (url === undefined || (url.username === '' && url.password === '')) return visible(address);
  url.username = url.password = '';
  return visible(url.href);
}

/** A string of at most 200 characters with invisible characters as `\u{...}`; for other values their type. */
export function printable(value: unknown): string {
  if (typeof value !== 'string' || value === '') return kindOf(value);
  const checked = value.slice(0, MAX_CHECKED_CHARACTERS);
  const secret = SECRETS.find(([pattern]) => pattern.test(checked));
  if (secret !== undefined) return `(${secret[1]})`;
  return cut(visible(checked).replace(SPACE_AT_AN_END, '\\u{20}'));
}

/** The values of a list, each as `printable` shows it, separated by commas; at most 200 characters. */
export function printableList(values: Iterable<string>): string {
  const texts = [...values];
  if (texts.length === 0) return 'none';
  const shown: string[] = [];
  let length = 0;
  for (const text of texts.slice(0, MAX_PRINTED_CHARACTERS)) {
    const one = printable(text);
    length += one.length + 2;
    if (length > MAX_PRINTED_CHARACTERS - 16 && shown.length > 0) break;
    shown.push(one);
  }
  const rest = texts.length - shown.length;
  return cut(rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more`);
}

/** A duration in whole seconds; below 10 seconds with a fraction, which may matter. */
export function printableSeconds(seconds: number): string {
  return `${Number(seconds.toFixed(seconds < 10 ? 3 : 0))} s`;
}

function cut(text: string): string {
  const first = firstCharacters(text, MAX_PRINTED_CHARACTERS);
  return first === text ? text : `${firstCharacters(text, MAX_PRINTED_CHARACTERS - 1)}…`;
}

/** The type of a value; nothing of its content. */
export function kindOf(value: unknown): string {
  if (value === '') return 'an empty text';
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
