// The member `subjects` of a trusted key entry: which `sub` its tokens may carry.
import { hasMoreCharacters } from '../../platform/text/characters.js';
import { isText } from './entry-kinds.js';

/** As long as the `sub` of a token may be. */
export const MAX_PATTERN_CHARACTERS = 255;
/** What parts the names in a `sub`, as platforms write it: `repo:acme/app:ref:refs/heads/main`. */
const SEPARATOR = /([:/])/;

/**
 * Whether a `sub` is one of the texts, or of the form that one of them gives, character by character. A `*` stands for one character or
 * more, none of which is `:` or `/`.
 */
export function matchesSubject(patterns: ReadonlySet<string>, sub: string): boolean {
  if (patterns.has(sub)) return true;
  const segments = sub.split(SEPARATOR);
  return [...patterns].some((pattern) => matches(pattern.split(SEPARATOR), segments));
}

/** Undefined for a text that is no pattern: two `*` in one segment could be read in many ways. */
export function subjectPatternOf(text: string): string | undefined {
  const isGood = isText(text) && !hasMoreCharacters(text, MAX_PATTERN_CHARACTERS);
  return isGood && text.split(SEPARATOR).every((segment) => segment.split('*').length <= 2)
    ? text
    : undefined;
}

/**
 * Whether a pattern leaves open whose token it is: platforms begin with the kind and the account. GitHub writes the id of an account
 * behind its name and an `@`, which no name has.
 */
export function leavesAccountOpen(pattern: string): boolean {
  const [kind = '', , account = ''] = pattern.split(SEPARATOR);
  return [kind, account].some((segment) => segment.replace(/@\*$/, '').includes('*'));
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((wanted, index) => matchesSegment(wanted, segments[index] ?? ''))
  );
}

function matchesSegment(wanted: string, segment: string): boolean {
  const [start = '', end] = wanted.split('*');
  if (end === undefined) return segment === wanted;
  return segment.length > start.length + end.length && segment.startsWith(start) && segment.endsWith(end);
}
