// Parses JSON strictly: no duplicate names, and nothing that the database cannot store.

import { isUtf8 } from 'node:buffer';
import { EncodingError, textOf } from '../text/encoding.js';

/** The input is not JSON, or one of its objects has a duplicate name. */
export class JsonError extends Error {}

/** Deeper than any honest token or configuration. Deeper nesting is refused before it costs anything. */
const MAX_DEPTH = 32;

/**
 * Parses JSON and refuses duplicate names at any depth, because parsers disagree about which value applies
 * (RFC 8259 §4).
 * @param maxParts the highest total of array elements and object members, checked before the value is built
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
  // The parser keeps one of several members with the same name. Comparing counts is cheaper than recording
  // each name.
  if (countMembers(value) !== names) throw new JsonError('a property is given twice');
  return value;
}

/**
 * Explains an error of `parseStrictJson` with its position, for input that a person wrote: `not valid JSON
 * (line 3, column 7)`.
 */
export function explainJsonError({ message }: JsonError, text: string): string {
  const at = placeOfFault(text);
  if (at === undefined) return message;
  const lines = text.slice(0, at).split(/\r\n|\r|\n/);
  return `${message} (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1})`;
}

/**
 * The position at which JSON.parse fails; undefined if it does not. Only the number is taken from its
 * message, because the rest may repeat the input.
 */
function placeOfFault(text: string): number | undefined {
  const message = messageOfParser(text);
  const position = /JSON at position (\d+)( \(line \d+ column \d+\))?$/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  if (!message.startsWith(UNEXPECTED_TOKEN)) return message === '' ? undefined : text.length;
  // The message for an unexpected token has no position. The token ends the shortest prefix that fails like
  // this.
  let [without, withToken] = [0, text.length];
  while (withToken - without > 1) {
    const middle = (without + withToken) >> 1;
    if (messageOfParser(text.slice(0, middle)).startsWith(UNEXPECTED_TOKEN)) withToken = middle;
    else without = middle;
  }
  return without;
}

const UNEXPECTED_TOKEN = 'Unexpected token';

/** V8's message in Node.js 20 to 24; empty for valid JSON. */
function messageOfParser(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return (error as SyntaxError).message;
  }
}

/** Parses bytes as `parseStrictJson` does. They must be UTF-8 (RFC 8259 §8.1). @throws JsonError */
export function parseStrictJsonBytes(bytes: Uint8Array, maxParts?: number): unknown {
  if (!isUtf8(bytes)) throw new JsonError('not valid UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return parseStrictJson(text, maxParts);
}

/**
 * Parses a file or a response as `parseStrictJson` does. Skips a byte order mark (RFC 8259 §8.1). @throws
 * JsonError
 */
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

/** A JSON string, and a colon after it if it is a name. */
const STRING_OF_JSON = /"((?:[^"\\]|\\[^])*)"(\s*:)?/g;

/**
 * Parses JSON whose names contain escapes. JSON.parse of Node.js 24 and 26 may read such a name as another
 * one, depending on what the process has parsed before (nodejs/node#63785): members would vanish, and
 * duplicates would pass. Each name is therefore parsed separately as a string, and replaced with a number
 * while the rest is parsed.
 * @throws SyntaxError
 */
function parseWithNumberedNames(text: string): unknown {
  // On invalid JSON, the pattern would search for the end of each string again, in quadratic time.
  JSON.parse(text);
  const names: string[] = [];
  const numbered = text.replace(STRING_OF_JSON, (whole: string, inside: string, colon?: string) =>
    colon === undefined ? whole : `"n${names.push(JSON.parse(`"${inside}"`) as string) - 1}"${colon}`,
  );
  return withNames(JSON.parse(numbered), names);
}

/** The later of two members with the same name wins, as in JSON.parse. */
function withNames(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((element) => withNames(element, names));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([number, member]) => [names[Number(number.slice(1))], withNames(member, names)]),
  );
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether any string in a parsed value contains NUL or a lone surrogate, which PostgreSQL cannot store. */
export function hasUnstorableText(value: unknown): boolean {
  return isFoundIn(value, isUnstorableText);
}

/**
 * Whether the database returns a parsed value unchanged: its strings can be stored, and its numbers are
 * within the range of a double. JSON.parse turns larger ones into Infinity, which would be written as null.
 */
export function isStorable(value: unknown): boolean {
  return !isFoundIn(value, (leaf) => isUnstorableText(leaf) || isInfinite(leaf));
}

/** Whether a string contains NUL or a lone surrogate. */
export function isUnstorable(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}

function isUnstorableText(leaf: unknown): boolean {
  return typeof leaf === 'string' && isUnstorable(leaf);
}

function isInfinite(leaf: unknown): boolean {
  return typeof leaf === 'number' && !Number.isFinite(leaf);
}

/** Whether a predicate is true for a name or a leaf (string, number, …) in a parsed value. */
function isFoundIn(value: unknown, isSought: (leaf: unknown) => boolean): boolean {
  if (Array.isArray(value)) return value.some((element) => isFoundIn(element, isSought));
  if (!isJsonObject(value)) return isSought(value);
  return Object.keys(value).some((name) => isSought(name) || isFoundIn(value[name], isSought));
}

/**
 * Counts the members of all objects in a parsed value. Reads objects by their names: listing the values of an
 * object with thousands of members takes longer.
 * @throws JsonError if it is nested too deeply
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
  /** Names of members, with duplicates. */
  readonly names: number;
  /** Whether a name contains an escape. */
  readonly hasEscapedName: boolean;
}

/** Character codes of JSON's structural characters. */
const CODE = { quote: 0x22, comma: 0x2c, colon: 0x3a, backslash: 0x5c } as const;
const ARRAY = { opens: 0x5b, closes: 0x5d } as const;
const OBJECT = { opens: 0x7b, closes: 0x7d } as const;

/**
 * Counts parts and names in one pass: a comma precedes each part except the first of its array or object, and
 * a colon follows each name. On invalid JSON the counts are meaningless.
 * @rule B.work Parsing takes time in proportion to the input, like all other work before a token is verified.
 */
function countsOf(text: string): Counts {
  const mayHaveEscapes = text.includes('\\');
  let [hasEscape, hasEscapedName] = [false, false];
  let [parts, names, before] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // White space, and control characters, which JSON forbids.
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

/** Whether an array or object that has just begun has a first element. */
function isFirstPart(before: number, code: number): boolean {
  if (before === ARRAY.opens) return code !== ARRAY.closes;
  return before === OBJECT.opens && code !== OBJECT.closes;
}

/** The position of the string's closing quotation mark; the end of the input if there is none. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === CODE.quote) return at;
    if (code === CODE.backslash) at += 1;
  }
  return at;
}
