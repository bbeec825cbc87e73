// The filters of the audit trail, its time ranges, and the cursors of its pages.
import type { Checked } from '../platform/input/schemas.js';
import { isUnstorable } from '../platform/json/strict-json.js';
import { similarName } from '../platform/text/wording.js';
import type { BearerReason } from '../token-exchange/instance.js';
import { BEARER_REFUSALS, TOKEN_REFUSALS } from '../token-exchange/instance.js';
import { AUDIT_EVENT_NAMES, AUDIT_EVENTS, EVENT_NAME_START } from './instance-events.js';

/** An event must match all given properties. */
export interface TrailFilter {
  /** One or more event names, or prefixes followed by `*`. */
  readonly event?: string | readonly string[];
  /** Id of the subject or of the actor. */
  readonly userId?: string;
  /** Id of the subject; indexed. */
  readonly subjectUserId?: string;
  /** The person that the event is about, also in a refused token; indexed. */
  readonly person?: TrailPerson;
  /** In the payload; compared character by character. */
  readonly issuer?: string;
  /** In the payload. */
  readonly kid?: string;
  /** In the payload. */
  readonly reason?: string;
  /** Indexed. */
  readonly requestId?: string;
  /** Leaves out what unauthenticated clients may have caused: refusals before a signature was verified. */
  readonly withoutStrangers?: boolean;
  /** Leaves out reads by commands and by the operator's page. */
  readonly withoutReadings?: boolean;
}

/** A user, or a person who is known only from tokens. */
export interface TrailPerson {
  readonly userId?: string;
  /** Hashes of e-mail addresses and `sub`s (`PersonHashes`). */
  readonly hashes: readonly Buffer[];
}

/** A time range; a missing end is unlimited. */
export interface TimeRange {
  readonly since?: Date;
  /** Exclusive. */
  readonly until?: Date;
}

/**
 * Where a page begins. It keeps the first page's time range, whose beginning would otherwise move with the
 * clock.
 */
export interface TrailPlace {
  readonly range: TimeRange;
  /** After the event with this id; undefined: at the first event of the order. */
  readonly id?: string;
}

const DAY_MS = 86_400_000;
const USUAL_DAYS = 1;
export const MAX_DAYS = 31;
/** No stored issuer, reason or request id is longer. */
export const MAX_FILTER_CHARACTERS = 2048;

/** Every possible `reason` of an event: of refusals, from the event catalogue, and for internal errors. */
export const REASONS: ReadonlySet<string> = new Set([
  ...Object.keys(TOKEN_REFUSALS),
  ...Object.keys(BEARER_REFUSALS),
  ...Object.values(AUDIT_EVENTS).flatMap(({ members }) => {
    const words = members['reason']?.schema['enum'];
    return Array.isArray(words) ? words.map(String) : [];
  }),
  'internal_error',
]);

const CHECKS_OF_STRANGERS: ReadonlySet<string> = new Set(['client', 'token', 'header', 'key', 'signature']);

/**
 * Reasons of refusals before a signature was verified. A token without `iss` has `claims_invalid`, and no
 * issuer in its event.
 */
export const REASONS_OF_STRANGERS: readonly string[] = [
  ...Object.entries(TOKEN_REFUSALS).flatMap(([reason, { check }]) =>
    CHECKS_OF_STRANGERS.has(check) ? [reason] : [],
  ),
  ...(['malformed', 'not_issued_here'] satisfies BearerReason[]),
];

/** Adds a missing `svc.audit.` prefix. Refuses unknown names, which would find nothing. */
export function checkEvent(text: string): Checked<string> {
  const name = text.startsWith(EVENT_NAME_START) ? text : `${EVENT_NAME_START}${text}`;
  const isBeginning = name.endsWith('*');
  const found = isBeginning
    ? AUDIT_EVENT_NAMES.some((each) => each.startsWith(name.slice(0, -1)))
    : AUDIT_EVENT_NAMES.includes(name);
  return found ? { value: name } : { rule: 'must be the name of an event, or the beginning of one and *' };
}

/** Refuses unknown reasons, which would find nothing. */
export function checkReason(text: string): Checked<string> {
  if (REASONS.has(text)) return { value: text };
  const meant = similarName(text, REASONS);
  const hint = meant === undefined ? 'see docs/refusals.md' : `did you mean ${meant}?`;
  return { rule: `must be the reason of a refusal; ${hint}` };
}

/** Checks an issuer or a request id. */
export function checkText(text: string): Checked<string> {
  if (text === '' || text.length > MAX_FILTER_CHARACTERS)
    return { rule: `must be a string of 1 to ${MAX_FILTER_CHARACTERS} characters` };
  return isUnstorable(text) ? { rule: 'has characters that cannot be stored' } : { value: text };
}

/**
 * The time range to search. The default is the last day, or the day before a given end. A request's events
 * are found by an index and need no time range.
 */
export function checkRange(
  { since, until }: TimeRange,
  { requestId }: Pick<TrailFilter, 'requestId'>,
  now: Date,
): Checked<TimeRange> {
  if (requestId !== undefined && since === undefined && until === undefined) return { value: {} };
  const end = until ?? now;
  const begin = since ?? new Date(end.getTime() - USUAL_DAYS * DAY_MS);
  if (begin >= end) return { rule: until === undefined ? 'must be in the past' : 'must be before until' };
  if (end.getTime() - begin.getTime() > MAX_DAYS * DAY_MS)
    return { rule: `must be at most ${MAX_DAYS} days before until, which is now unless given` };
  return { value: { since: begin, ...(until && { until }) } };
}

/** The length of a cursor's numbers and separators. */
export const MAX_CURSOR_CHARACTERS = 18 + 1 + 14 + 1 + 14;

/** `ID_SINCE_UNTIL`, times in milliseconds since 1970. Opaque to clients. */
export function writeCursor({ id = '', range: { since, until } }: TrailPlace): string {
  return [id, since?.getTime(), until?.getTime()].join('_');
}

/** An invented cursor gains nothing over a filter: each page searches a limited number of events. */
export function checkCursor(cursor: string): Checked<TrailPlace> {
  const [, id, since, until] = /^(\d{1,18})_(\d{1,14})?_(\d{1,14})?$/.exec(cursor) ?? [];
  if (id === undefined) return { rule: 'must be the nextCursor of an earlier page of this list' };
  const dateOf = (ms: string | undefined) => (ms === undefined ? undefined : new Date(Number(ms)));
  return { value: { id, range: { since: dateOf(since), until: dateOf(until) } } };
}
