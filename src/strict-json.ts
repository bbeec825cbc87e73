// Reads JSON as security demands it: one meaning only, so no member twice, and nothing that storage cannot hold.

import { isUtf8 } from 'node:buffer';

/** The text is not JSON, or has the same member twice in one object. */
export class JsonError extends Error {}

/** Deeper nesting than any honest token or configuration has; more is refused before it can cost anything. */
const MAX_DEPTH = 32;

/**
 * Parses JSON and refuses duplicate members at any depth: parsers disagree about which of the two counts (RFC 8259 §4).
 * @throws JsonError
 */
export function parseStrictJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new JsonError('not valid JSON');
  }
  // Of a name that is given twice the parser keeps one member. To note each name of each object took twice as long.
  if (countMembers(value) !== countNames(text)) throw new JsonError('a member is given twice');
  return value;
}

/** Parses bytes: they must be UTF-8 (RFC 8259 §8.1). @throws JsonError */
export function parseStrictJsonBytes(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw new JsonError('not valid UTF-8');
  return parseStrictJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
}

/** Whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether any string inside a parsed value has NUL or a lone surrogate, neither of which PostgreSQL text can hold. */
export function hasUnstorableText(value: unknown): boolean {
  if (typeof value === 'string') return isUnstorable(value);
  if (Array.isArray(value)) return value.some(hasUnstorableText);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([name, member]) => isUnstorable(name) || hasUnstorableText(member));
}

/**
 * Whether any number inside a parsed value is beyond the range of a double. JSON.parse makes Infinity of it, which
 * would be written back as null.
 */
export function hasInfiniteNumber(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (Array.isArray(value)) return value.some(hasInfiniteNumber);
  return isJsonObject(value) && Object.values(value).some(hasInfiniteNumber);
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether a text has NUL or a lone surrogate. */
export function isUnstorable(text: string): boolean {
  return text.includes('\0') || LONE_SURROGATE.test(text);
}

/** The members of all objects inside a parsed value. @throws JsonError when it is nested too deeply */
function countMembers(value: unknown, depth = 1): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > MAX_DEPTH) throw new JsonError('nested too deeply');
  const members: unknown[] = Array.isArray(value) ? value : Object.values(value);
  const own = Array.isArray(value) ? 0 : members.length;
  return members.reduce<number>((count, member) => count + countMembers(member, depth + 1), own);
}

/** The strings of a JSON text that are members' names: those that a colon follows. It is known to be JSON. */
function countNames(text: string): number {
  let count = 0;
  for (let start = text.indexOf('"'); start >= 0;) {
    const end = endOfString(text, start);
    if (isFollowedByColon(text, end)) count += 1;
    start = text.indexOf('"', end + 1);
  }
  return count;
}

/** The first quotation mark after the one at `start` that is not escaped: an even number of backslashes stands before it. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === '\\') before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
}

function isFollowedByColon(text: string, end: number): boolean {
  let at = end + 1;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return text[at] === ':';
}
