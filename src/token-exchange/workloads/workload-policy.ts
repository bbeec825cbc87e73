// The properties of a trusted key entry for jobs and services: their subjects, the user they act as, and how a job is shown.
import { isJsonObject } from '../../platform/json/strict-json.js';
import { firstCharacters, hasMoreCharacters } from '../../platform/text/characters.js';
import { isId } from '../../platform/text/id.js';
import { kindOf, printable, printableList, visible } from '../../platform/text/printable.js';
import type { Row } from '../trust/entry-kinds.js';
import { Fault, isText, list, text } from '../trust/entry-kinds.js';

/** Of a claim that an entry compares. */
export type ClaimValue = string | number | boolean;

const MOST = 100;
/** Of the patterns of an entry. */
const MAX_SHOWN = 3;
/** Of the `sub` of a token. */
export const MAX_SUBJECT_CHARACTERS = 255;
/** The separators in the `sub` of platforms: `repo:acme/app:ref:refs/heads/main`. */
const SEPARATOR = /([:/])/;
/** Claims of every token, which have their own checks. */
const CHECKED_ANYWAY: ReadonlySet<string> = new Set(['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti']);

const CLAIMS_RULE = `must be an object of at least one claim, each a text, a number up to ${Number.MAX_SAFE_INTEGER}, true or false`;

const claims: Row<ReadonlyMap<string, ClaimValue>> = {
  kind: 'structure',
  label: 'Claims',
  rule: 'claims that a token must have with exactly this value: `{"repository_id": "74"}`',
  unsaid: 'none',
  prevents: 'a repository with a reused name signs in',
  read(given) {
    const entries = isJsonObject(given) ? Object.entries(given) : [];
    if (entries.length === 0 || entries.length > MOST || !entries.every(isClaim))
      return new Fault(CLAIMS_RULE);
    const other = entries.find(([name]) => CHECKED_ANYWAY.has(name));
    if (other !== undefined) return new Fault(`must not have ${other[0]}, which is checked by itself`);
    return new Map(entries);
  },
  words: (values) => values && `only with the claims ${[...values.keys()].join(', ')}`,
};

function isClaim(claim: [string, unknown]): claim is [string, ClaimValue] {
  const [name, value] = claim;
  // A larger number would equal its neighbours.
  const isExact = typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return isText(name) && (isText(value) || typeof value === 'boolean' || isExact);
}

export const WORKLOAD = {
  subjects: list(
    {
      each: subjectPatternOf,
      must: `must be a list of 1 to ${MOST} texts of at most ${MAX_SUBJECT_CHARACTERS} characters, with one * in a segment at most`,
      least: 1,
    },
    {
      label: 'Subjects',
      rule: 'allowed `sub`s; `*` is one or more characters except `:` and `/`: `repo:acme/app:ref:refs/heads/release-*`',
      unsaid: 'any `sub`',

      fault: (patterns) => (patterns.size > MOST ? `must have at most ${MOST}` : undefined),
      words: (patterns) => patterns && `only the subjects ${[...patterns].join(', ')}`,
    },
  ),
  claims,
  signInAs: text({
    label: 'User whom its tokens act as',
    rule: 'id of the user whom its tokens act as ([jobs and services](../partner/ci.md)), never the owner. Requires `subjects`, `expectedAudience`, `scopes` and `flows` (`exchange`, `jwt-bearer`); excludes properties about roles, e-mail, linking and projects',
    unsaid: 'the user linked to `iss` and `sub`',

    fault: (id, { userIdType }) =>
      userIdType === 'uuid' && !isId(id) ? 'must be the id of a user, not an e-mail address' : undefined,
    words: (id) => id && `acts as the user ${id}`,
  }),
};

/**
 * Whether a `sub` equals a subject or matches its pattern, character by character. `*` matches one or more characters except `:`
 * and `/`.
 */
export function matchesSubject(patterns: ReadonlySet<string>, sub: string): boolean {
  // Most entries list their subjects in full.
  if (patterns.has(sub)) return true;
  const segments = sub.split(SEPARATOR);
  return [...patterns].some((pattern) => {
    const wanted = pattern.split(SEPARATOR);
    return (
      wanted.length === segments.length && wanted.every((one, at) => matchesSegment(one, segments[at] ?? ''))
    );
  });
}

/** Undefined for an invalid pattern: two `*` in one segment would be ambiguous. */
export function subjectPatternOf(text: string): string | undefined {
  const isGood = isText(text) && !hasMoreCharacters(text, MAX_SUBJECT_CHARACTERS);
  return isGood && text.split(SEPARATOR).every((segment) => segment.split('*').length <= 2)
    ? text
    : undefined;
}

/**
 * Patterns that may match more jobs than their author means. A claim whose name ends in `_id` fixes a repository or project, but not
 * the branch, environment or event, which platforms write last. Other claims fix the job.
 */
export function openPatterns(
  patterns: ReadonlySet<string> | undefined,
  claims: ReadonlyMap<string, ClaimValue> | undefined,
): ReadonlySet<string> {
  const names = [...(claims?.keys() ?? [])];
  const fixesJob = names.some((name) => !name.endsWith('_id'));
  const open = names.length > 0 ? /(^|[:/])\*$/ : /\*/;
  return new Set([...(patterns ?? [])].filter((pattern) => !fixesJob && open.test(pattern)));
}

function matchesSegment(wanted: string, segment: string): boolean {
  const [start = '', end] = wanted.split('*');
  if (end === undefined) return segment === wanted;
  return segment.length > start.length + end.length && segment.startsWith(start) && segment.endsWith(end);
}

/** The first claim that differs from the entry in value or type. */
export function otherClaim(
  claims: ReadonlyMap<string, ClaimValue>,
  payload: Readonly<Record<string, unknown>>,
): readonly [string, ClaimValue] | undefined {
  return [...claims].find(([name, value]) => !Object.hasOwn(payload, name) || payload[name] !== value);
}

/** The expected and the found value. For a person's token only the type of the value is shown. */
export function comparedClaims(
  { claims, signInAs }: { readonly claims?: ReadonlyMap<string, ClaimValue>; readonly signInAs?: string },
  payload: Readonly<Record<string, unknown>>,
): readonly [expected: string, found: string] {
  if (claims === undefined) return ['any', 'as it says'];
  const [name, value] = otherClaim(claims, payload) ?? [];
  if (name === undefined) return [printableList(claims.keys()), 'as it says'];
  const found = payload[name];
  const isShown = signInAs !== undefined && typeof found === typeof value;
  return [`${printable(name)} ${shownClaim(value)}`, isShown ? shownClaim(found) : kindOf(found)];
}

function shownClaim(value: unknown): string {
  return typeof value === 'string' ? printable(value) : String(value);
}

/**
 * Matches an e-mail address, also percent-encoded. It stops at separators, because `printable` would mistake the ids in a GitHub
 * `sub` for one. It does not match a version, as in the tag `core@1.2.3`.
 */
const ADDRESS = /(?:@|%40)(?:\[|[^\s@:/,;]*\.[^\s@:/,;.\d])/i;

/** An issuer's id of a job or actor, without an e-mail address. */
export function shownName(name: string): string {
  return ADDRESS.test(name) ? printable(name) : visible(name);
}

export function shownSubject(sub: string): string {
  return shownName(firstCharacters(sub, MAX_SUBJECT_CHARACTERS));
}

export function shownPatterns(patterns: ReadonlySet<string>): string {
  const shown = [...patterns].slice(0, MAX_SHOWN).map(shownSubject).join(', ');
  return patterns.size > MAX_SHOWN ? `${shown} and ${patterns.size - MAX_SHOWN} more` : shown;
}
