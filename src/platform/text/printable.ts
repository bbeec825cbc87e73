// Makes what came from outside fit to be shown to an operator: escaped, cut, and never an address, a token or a key.
import { firstCharacters } from './characters.js';
import { parsedUrl } from './url.js';

/** The longest text that is shown. */
const MAX_PRINTED_CHARACTERS = 200;
/** Long enough for what begins in the shown part; the patterns take time in the square of it. */
const MAX_CHECKED_CHARACTERS = 512;

/** A part of an e-mail address, also in percent-encoding; of a token, which begin so by what they are; of a PEM; of a key. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/(?:@|%40)[^\s@]*\.[^\s@]/i, 'not shown: it looks like an e-mail address'],
  [/eyJ[\w-]{8}|e[yw][\w-]{6,}\.[\w-]{8}/, 'not shown: it looks like a token'],
  [/-----BEGIN/, 'not shown: it looks like a key'],
  [/[\w+-]{65}/, 'not shown: too long to be a name'],
];
/** What cannot be seen: control and format characters, lone surrogates, odd spaces; and what stands for them. */
const UNSEEN = /(?! )[\p{C}\p{Z}\\]/gu;
const SPACE_AT_AN_END = /^ | $/g;

/** Names of keys, algorithms and types, with unseen characters escaped. */
const NAME = /^(?:[\w.+/:;=~, -]|\\u\{[0-9a-f]+\})*…?$/;

/**
 * The same for values without a verified signature: names alone, so that strangers cannot write sentences, markup or instructions
 * for readers of the log, or words that a receiver of the trail refuses.
 */
export function printableName(value: unknown): string {
  const text = printable(value);
  return typeof value !== 'string' || NAME.test(text) || text.startsWith('(not shown')
    ? text
    : `(${value.length} characters that make no name)`;
}

/** A text of any length with what cannot be seen as `\u{...}`, and else as it is: for what is recorded as it was written. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (unseen) => `\\u{${(unseen.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The address of a service without what may be secret in it: user, password and query; and with nothing that cannot be seen. */
export function printableAddress(uri: string): string {
  const address = uri.replace(/[?#].*$/s, '');
  const url = parsedUrl(address);
  if (url === undefined || (url.username === '' && url.password === '')) return visible(address);
  url.username = url.password = '';
  return visible(url.href);
}

/** A text with what cannot be seen as `\u{...}`, of at most 200 characters; of anything else than a text its kind. */
export function printable(value: unknown): string {
  if (typeof value !== 'string' || value === '') return kindOf(value);
  const checked = value.slice(0, MAX_CHECKED_CHARACTERS);
  const secret = SECRETS.find(([pattern]) => pattern.test(checked));
  if (secret !== undefined) return `(${secret[1]})`;
  return cut(visible(checked).replace(SPACE_AT_AN_END, '\\u{20}'));
}

/** The values of a list, each as `printable` makes it, with commas between them; of at most 200 characters. */
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

/** A length of time: whole seconds, but for short ones, of which a fraction may have decided. */
export function printableSeconds(seconds: number): string {
  return `${Number(seconds.toFixed(seconds < 10 ? 3 : 0))} s`;
}

function cut(text: string): string {
  const first = firstCharacters(text, MAX_PRINTED_CHARACTERS);
  return first === text ? text : `${firstCharacters(text, MAX_PRINTED_CHARACTERS - 1)}…`;
}

/** What a value is, and nothing of what it says. */
export function kindOf(value: unknown): string {
  if (value === '') return 'an empty text';
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
