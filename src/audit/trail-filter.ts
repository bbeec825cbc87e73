// Which events of the trail are asked for: the rules of each filter and of the time between which they lie, and where a page goes on.
import { AUDIT_EVENT_NAMES, AUDIT_EVENTS, EVENT_NAME_START } from './instance-events.js';
import { similarName } from '../platform/text/wording.js';
import type { BearerReason } from '../token-exchange/instance.js';
import { BEARER_REFUSALS, TOKEN_REFUSALS } from '../token-exchange/instance.js';
import type { Checked } from '../platform/input/schemas.js';
import { isUnstorable } from '../platform/json/strict-json.js';

/** An event must match all given members. */
export interface TrailFilter {
  /** Names of the catalogue, or beginnings of some with `*` at their end: one of them. */
  readonly event?: string | readonly string[];
  /** Id of the subject or of the actor. */
  readonly userId?: string;
  /** Id of the subject: it has an index. */
  readonly subjectUserId?: string;
  /** Whom it is about, also in a refused token: by indexes. */
  readonly person?: TrailPerson;
  /** By the payload, character by character. */
  readonly issuer?: string;
  /** By the payload. */
  readonly kid?: string;
  /** By the payload. */
  readonly reason?: string;
  /** It has an index. */
  readonly requestId?: string;
  /** Leaves out what any stranger may have sent: what was refused before a signature was verified. */
  readonly withoutStrangers?: boolean;
  /** Leaves out that commands and the operator's pages have read. */
  readonly withoutReadings?: boolean;
}

/** A user, or a person known only from tokens. */
export interface TrailPerson {
  readonly userId?: string;
  /** Of e-mail addresses and `sub`s (`PersonHashes`). */
  readonly hashes: readonly Buffer[];
}

/** A part of time; what is not given does not limit it. */
export interface TimeRange {
  readonly since?: Date;
  /** Not included. */
  readonly until?: Date;
}

/** Where a page begins: in the time of the first one, whose beginning would otherwise move with the clock. */
export interface TrailPlace {
  readonly range: TimeRange;
  /** Behind the event of this id; without it, at the end of the trail or at its beginning, as the order has it. */
  readonly id?: string;
}

const DAY_MS = 86_400_000;
const USUAL_DAYS = 1;
export const MOST_DAYS = 31;
/** No issuer, reason or request id that is stored is longer. */
export const MAX_FILTER_CHARACTERS = 2048;

/** Every `reason` that an event may have: those of refusals, those that its row of the catalogue lists, and faults. */
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

/** Of refusals before a signature was verified. A token without `iss` has `claims_invalid`, and its event no issuer. */
export const REASONS_OF_STRANGERS: readonly string[] = [
  ...Object.entries(TOKEN_REFUSALS).flatMap(([reason, { check }]) =>
    CHECKS_OF_STRANGERS.has(check) ? [reason] : [],
  ),
  ...(['malformed', 'not_issued_here'] satisfies BearerReason[]),
];

/** A name without `svc.audit.` is taken for the rest of one. What no event is called is refused: it would find nothing. */
export function checkEvent(text: string): Checked<string> {
  const name = text.startsWith(EVENT_NAME_START) ? text : `${EVENT_NAME_START}${text}`;
  const isBeginning = name.endsWith('*');
  const found = isBeginning
    ? AUDIT_EVENT_NAMES.some((each) => each.startsWith(name.slice(0, -1)))
    : AUDIT_EVENT_NAMES.includes(name);
  return found ? { value: name } : { rule: 'must be the name of an event, or the beginning of one and *' };
}

/** A reason that no event has is refused: it would find nothing. */
export function checkReason(text: string): Checked<string> {
  if (REASONS.has(text)) return { value: text };
  const meant = similarName(text, REASONS);
  const hint = meant === undefined ? 'see docs/refusals.md' : `did you mean ${meant}?`;
  return { rule: `must be the reason of a refusal; ${hint}` };
}

/** Issuers, request ids. */
export function checkText(text: string): Checked<string> {
  if (text === '' || text.length > MAX_FILTER_CHARACTERS)
    return { rule: `must be a text of 1 to ${MAX_FILTER_CHARACTERS} characters` };
  return isUnstorable(text) ? { rule: 'has characters that cannot be stored' } : { value: text };
}

/**
 * The part of time that is looked through: the last day unless something is given; where only its end is given, the day before
 * that. The events of one request are found by an index: for them no time is needed.
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
  if (end.getTime() - begin.getTime() > MOST_DAYS * DAY_MS)
    return { rule: `must be at most ${MOST_DAYS} days before until, which is now unless given` };
  return { value: { since: begin, ...(until && { until }) } };
}

/** Of a cursor: its numbers and what is between them. */
export const MAX_CURSOR_CHARACTERS = 18 + 1 + 14 + 1 + 14;

/** `ID_SINCE_UNTIL`, times in milliseconds since 1970; without meaning for clients. */
export function writeCursor({ id = '', range: { since, until } }: TrailPlace): string {
  return [id, since?.getTime(), until?.getTime()].join('_');
}

/** Who makes a cursor up gets no more than by a filter: each page looks at so many events, and no more. */
export function checkCursor(cursor: string): Checked<TrailPlace> {
  const [, id, since, until] = /^(\d{1,18})_(\d{1,14})?_(\d{1,14})?$/.exec(cursor) ?? [];
  if (id === undefined) return { rule: 'must be the nextCursor of an earlier page of this list' };
  const dateOf = (ms: string | undefined) => (ms === undefined ? undefined : new Date(Number(ms)));
  return { value: { id, range: { since: dateOf(since), until: dateOf(until) } } };
}
