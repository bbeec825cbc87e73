// Reads JSON as security demands it: one meaning only, so no member twice, and nothing that storage cannot hold.

import { isUtf8 } from 'node:buffer';
import { EncodingError, textOf } from '../text/encoding.js';

/** The text is not JSON, or has the same member twice in one object. */
export class JsonError extends Error {}

/** Deeper nesting than any honest token or configuration has; more is refused before it can cost anything. */
const MAX_DEPTH = 32;

/**
 * Parses JSON and refuses duplicate members at any depth: parsers disagree about which of the two counts (RFC 8259 §4).
 * @param maxParts most array elements and object members in all; more are found before anything is built of them
 * @throws JsonError
 */
export function parseStrictJson(text: string, maxParts = Number.POSITIVE_INFINITY): unknown {
  const { parts, names, hasEscapedName } = countsOf(text);
  if (parts > maxParts) throw new JsonError(`more than ${maxParts} values and members`);
  let value: unknown;
  try {
    value = hasEscapedName ? parseWithNumberedNames(text) : JSON.parse(text);
  } catch {
    throw new JsonError('not valid JSON');
  }
  // The parser keeps one member of a name that is given twice. Counting is cheaper than noting each name.
  if (countMembers(value) !== names) throw new JsonError('a member is given twice');
  return value;
}

/** An error of `parseStrictJson` about a text that a person wrote, with its place: `not valid JSON (line 3, column 7)`. */
export function explainJsonError({ message }: JsonError, text: string): string {
  const at = placeOfFault(text);
  if (at === undefined) return message;
  const lines = text.slice(0, at).split(/\r\n|\r|\n/);
  return `${message} (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1})`;
}

/** Where JSON.parse stops; undefined where it does not. Of its messages only a number is taken: the rest may repeat the text. */
function placeOfFault(text: string): number | undefined {
  const message = messageOfParser(text);
  const position = /JSON at position (\d+)( \(line \d+ column \d+\))?$/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  if (!message.startsWith(UNEXPECTED_TOKEN)) return message === '' ? undefined : text.length;
  // An unexpected token has no place in its message: it ends the shortest beginning of the text that has one.
  let [without, withToken] = [0, text.length];
  while (withToken - without > 1) {
    const middle = (without + withToken) >> 1;
    if (messageOfParser(text.slice(0, middle)).startsWith(UNEXPECTED_TOKEN)) withToken = middle;
    else without = middle;
  }
  return without;
}

const UNEXPECTED_TOKEN = 'Unexpected token';

/** As V8 words it, in Node.js 20 to 24; empty for what is JSON. */
function messageOfParser(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return (error as SyntaxError).message;
  }
}

/** Parses bytes as `parseStrictJson` does: they must be UTF-8 (RFC 8259 §8.1). @throws JsonError */
export function parseStrictJsonBytes(bytes: Uint8Array, maxParts?: number): unknown {
  if (!isUtf8(bytes)) throw new JsonError('not valid UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return parseStrictJson(text, maxParts);
}

/** Parses a file or an answer as `parseStrictJson` does; a byte order mark is skipped (RFC 8259 §8.1). @throws JsonError */
export function parseStrictJsonDocument(bytes: Uint8Array, maxParts?: number): unknown {
  return parseStrictJson(documentText(bytes), maxParts);
}

function documentText(bytes: Uint8Array): string {
  try {
    return textOf(bytes);
  } catch (error) {
    throw error instanceof EncodingError ? new JsonError(`it ${error.message}`) : error;
  }
}

/** A string of JSON, and whether a colon follows: then it is a name. */
const STRING_OF_JSON = /"((?:[^"\\]|\\[^])*)"(\s*:)?/g;

/**
 * Parses what has an escape in a name. The JSON.parse of Node.js 24 and 26 may read such a name as another one, depending on what
 * the process has parsed before (nodejs/node#63785): members would vanish, and what is there twice pass. So each name is read by
 * itself, as a string, and is a number while the rest is parsed.
 * @throws SyntaxError
 */
function parseWithNumberedNames(text: string): unknown {
  // Of what is no JSON the pattern would look for the end of each string anew, in the square of the length.
  JSON.parse(text);
  const names: string[] = [];
  const numbered = text.replace(STRING_OF_JSON, (whole: string, inside: string, colon?: string) =>
    colon === undefined ? whole : `"n${names.push(JSON.parse(`"${inside}"`) as string) - 1}"${colon}`,
  );
  return withNames(JSON.parse(numbered), names);
}

/** The later of two members of one name stays, as in JSON.parse. */
function withNames(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((element) => withNames(element, names));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([number, member]) => [names[Number(number.slice(1))], withNames(member, names)]),
  );
}

/** Whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether any text inside a parsed value has NUL or a lone surrogate, neither of which PostgreSQL text can hold. */
export function hasUnstorableText(value: unknown): boolean {
  return isFoundIn(value, isUnstorableText);
}

/**
 * Whether a parsed value comes back from the database as it went in: with texts that it can hold, and without numbers
 * beyond the range of a double. JSON.parse makes Infinity of those, which would be written back as null.
 */
export function isStorable(value: unknown): boolean {
  return !isFoundIn(value, (leaf) => isUnstorableText(leaf) || isInfinite(leaf));
}

/** Whether a text has NUL or a lone surrogate. */
export function isUnstorable(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}

function isUnstorableText(leaf: unknown): boolean {
  return typeof leaf === 'string' && isUnstorable(leaf);
}

function isInfinite(leaf: unknown): boolean {
  return typeof leaf === 'number' && !Number.isFinite(leaf);
}

/** Whether something is found among the names, texts, numbers and other leaves inside a parsed value. */
function isFoundIn(value: unknown, isSought: (leaf: unknown) => boolean): boolean {
  if (Array.isArray(value)) return value.some((element) => isFoundIn(element, isSought));
  if (!isJsonObject(value)) return isSought(value);
  return Object.keys(value).some((name) => isSought(name) || isFoundIn(value[name], isSought));
}

/**
 * The members of all objects inside a parsed value. Here and above an object is read by its names: to list the values of
 * one with thousands of members takes longer.
 * @throws JsonError when it is nested too deeply
 */
function countMembers(value: unknown, depth = 1): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > MAX_DEPTH) throw new JsonError('nested too deeply');
  const inside = (count: number, part: unknown) => count + countMembers(part, depth + 1);
  if (Array.isArray(value)) return value.reduce<number>(inside, 0);
  const members = value as Record<string, unknown>;
  const names = Object.keys(members);
  return names.reduce((count, name) => inside(count, members[name]), names.length);
}

interface Counts {
  /** Array elements and object members. */
  readonly parts: number;
  /** Names of members. */
  readonly names: number;
  /** Whether one of them is written with an escape. */
  readonly hasEscapedName: boolean;
}

/** Character codes of what gives JSON its structure. */
const CODE = { quote: 0x22, comma: 0x2c, colon: 0x3a, backslash: 0x5c } as const;
const ARRAY = { opens: 0x5b, closes: 0x5d } as const;
const OBJECT = { opens: 0x7b, closes: 0x7d } as const;

/**
 * Counts in a JSON text, in one pass: a comma stands before each part but the first of its array or object, and a colon
 * behind each name. Of a text that is not JSON the counts mean nothing.
 * @rule B.work Reading takes time in proportion to the input; so does all other work before a token is checked.
 */
function countsOf(text: string): Counts {
  const mayHaveEscapes = text.includes('\\');
  let [hasEscape, hasEscapedName] = [false, false];
  let [parts, names, before] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // White space, and what may not stand in a text at all.
    if (code <= 0x20) continue;
    if (code === CODE.quote) {
      const end = endOfString(text, at);
      hasEscape = mayHaveEscapes && text.slice(at, end).includes('\\');
      at = end;
    } else if (code === CODE.comma) parts += 1;
    else if (code === CODE.colon) {
      names += 1;
      hasEscapedName ||= hasEscape;
    }
    if (isFirstPart(before, code)) parts += 1;
    before = code;
  }
  return { parts, names, hasEscapedName };
}

/** Whether something begins where an array or object has just begun: it is not empty. */
function isFirstPart(before: number, code: number): boolean {
  if (before === ARRAY.opens) return code !== ARRAY.closes;
  return before === OBJECT.opens && code !== OBJECT.closes;
}

/** The first quotation mark after the one at `start` that is not escaped; the end of the text where there is none. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === CODE.quote) return at;
    if (code === CODE.backslash) at += 1;
  }
  return at;
}
