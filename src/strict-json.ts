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
  // The text is known to be JSON now, so the scan below needs no error handling of its own.
  refuseDuplicateMembers(text);
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

/** The names that one open object has so far; undefined stands for an open array, where strings are never names. */
type Scope = Set<string> | undefined;

function refuseDuplicateMembers(text: string): void {
  const open: Scope[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '{' || char === '[') {
      if (open.push(char === '{' ? new Set() : undefined) > MAX_DEPTH)
        throw new JsonError('nested too deeply');
    } else if (char === '}' || char === ']') {
      open.pop();
    } else if (char === '"') {
      const end = endOfString(text, at);
      noteName(open.at(-1), text, at, end);
      at = end;
    }
  }
}

/** A string is a member's name when a colon follows it. Escapes are resolved: `a` and `\u0061` are one name. */
function noteName(scope: Scope, text: string, start: number, end: number): void {
  if (scope === undefined || !isFollowedByColon(text, end)) return;
  const name = JSON.parse(text.slice(start, end + 1)) as string;
  if (scope.has(name)) throw new JsonError('a member is given twice');
  scope.add(name);
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function isFollowedByColon(text: string, end: number): boolean {
  let at = end + 1;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return text[at] === ':';
}
