// Reads the audit trail: a list of the newest events, an export of all of a time, and what is written from now on.
import type { StoredEvent, TrailPlace } from '../audit/audit-trail.reader.js';
import type { Checked, TimeRange, TrailFilter } from '../audit/trail-filter.js';
import { checkEvent, checkRange, checkReason, checkText } from '../audit/trail-filter.js';
import type { TrailOrder } from '../audit/trail-statements.sql.js';
import { userIdOf } from './users.operations.js';
import { CommandError, InputError } from './command-error.js';
import { checkedText, moment, optional, readMembers, storableText, wholeNumber } from './input.js';
import type { InstanceParts } from './instance-parts.js';
import type { ListOperation } from './operation.js';

/** Members that are absent do not limit. */
export interface SoughtEvents {
  readonly event?: string;
  /** Id or e-mail address, of the subject or of the actor. */
  readonly user?: string;
  /** Id or e-mail address. */
  readonly subject?: string;
  readonly issuer?: string;
  /** Key id, with an issuer or alone. */
  readonly kid?: string;
  readonly reason?: string;
  readonly requestId?: string;
}

/** Times are ISO 8601. */
interface SoughtRange {
  readonly since?: string;
  readonly until?: string;
}

export interface EventList extends SoughtEvents, SoughtRange {
  /** So many events at most: 1 to 10,001. */
  readonly limit: number;
}

export type EventExport = SoughtEvents & SoughtRange;

export interface EventTail extends SoughtEvents {
  /** So many of the last day come first: 0 to 1,000. */
  readonly lines: number;
}

/** An event as commands and the API show it. */
export interface ShownEvent extends Omit<StoredEvent, 'occurredAt'> {
  /** ISO 8601. */
  readonly occurredAt: string;
}

export const MOST_LISTED = 10_000;
export const MOST_LINES = 1_000;
/** The embedded database reads a page on the main thread, which requests wait for meanwhile. */
const PAGE_SIZE = 250;

export const EVENT_FILTERS = {
  event: optional(checkedText(checkEvent)),
  user: optional(storableText),
  subject: optional(storableText),
  issuer: optional(checkedText(checkText)),
  reason: optional(checkedText(checkReason)),
  kid: optional(checkedText(checkText)),
  requestId: optional(checkedText(checkText)),
};
const TIMES = { since: optional(moment), until: optional(moment) };

export const LIST_EVENTS: ListOperation<EventList, ShownEvent> = {
  name: 'audit list',

  read(input) {
    const list = { ...EVENT_FILTERS, ...TIMES, limit: wholeNumber(1, MOST_LISTED + 1) };
    return inRange(readMembers<EventList>(input, list));
  },

  async *list({ limit, ...sought }, parts, stop) {
    let left = limit;
    for await (const page of pagesOf(sought, rangeOf(sought), { order: 'newest', parts, stop })) {
      yield page.slice(0, left).map(shownEvent);
      left -= page.length;
      if (left <= 0) return;
    }
  },
};

export const EXPORT_EVENTS: ListOperation<EventExport, ShownEvent> = {
  name: 'audit export',
  read: (input) => inRange(readMembers<EventExport>(input, { ...EVENT_FILTERS, ...TIMES })),

  async *list(sought, parts, stop) {
    // It ends, even if events are written meanwhile.
    const range = { until: new Date(), ...rangeOf(sought) };
    for await (const page of pagesOf(sought, range, { order: 'oldest', parts, stop }))
      yield page.map(shownEvent);
  },
};

export const TAIL_EVENTS: ListOperation<EventTail, ShownEvent> = {
  name: 'audit tail',
  read: (input) => readMembers<EventTail>(input, { ...EVENT_FILTERS, lines: wholeNumber(0, MOST_LINES) }),

  async *list({ lines, ...sought }, parts, stop) {
    const filter = await filterOf(sought, parts);
    const newest = await parts.trailFollower.newestId();
    yield (await lastEvents(filter, newest, lines, parts)).map(shownEvent);
    for await (const page of parts.trailFollower.follow(filter, newest, stop)) yield page.map(shownEvent);
  },
};

/** The last events up to an id, as far as one page looks back. */
async function lastEvents(
  filter: TrailFilter,
  upTo: bigint,
  limit: number,
  { trail }: InstanceParts,
): Promise<StoredEvent[]> {
  if (limit === 0) return [];
  const after = { id: String(upTo + 1n) };
  const { events } = await trail.page({ filter, range: rangeOf({}), order: 'newest', after, limit });
  return events.toReversed();
}

async function* pagesOf(
  sought: SoughtEvents,
  range: TimeRange,
  { order, parts, stop }: { order: TrailOrder; parts: InstanceParts; stop: AbortSignal },
): AsyncGenerator<readonly StoredEvent[], void> {
  const filter = await filterOf(sought, parts);
  let after: TrailPlace | undefined;
  do {
    const { events, end } = await parts.trail.page({ filter, range, order, after, limit: PAGE_SIZE });
    yield events;
    after = end;
  } while (after !== undefined && !stop.aborted);
  // Else it would look as if that were all.
  if (after !== undefined) throw new CommandError('Reading was stopped: the list is incomplete.');
}

/** @throws CommandError for an e-mail address that no user has */
export async function filterOf(
  { user, subject, event, issuer, kid, reason, requestId }: SoughtEvents,
  parts: InstanceParts,
): Promise<TrailFilter> {
  const [userId, subjectUserId] = [await userIdOf(user, parts), await userIdOf(subject, parts)];
  return { event, userId, subjectUserId, issuer, kid, reason, requestId };
}

/** @throws InputError for a time that is too long, or has no part in it */
function inRange<Input extends SoughtRange & SoughtEvents>(input: Input): Input {
  const checked = checkedRange(input);
  if ('rule' in checked) throw new InputError('since', checked.rule);
  return input;
}

function rangeOf(input: SoughtRange & SoughtEvents): TimeRange {
  const checked = checkedRange(input);
  if ('rule' in checked) throw new CommandError(`The time asked for ${checked.rule}.`);
  return checked.value;
}

function checkedRange({ since, until, requestId }: SoughtRange & SoughtEvents): Checked<TimeRange> {
  const dateOf = (text: string | undefined) => (text === undefined ? undefined : new Date(text));
  return checkRange({ since: dateOf(since), until: dateOf(until) }, { requestId }, new Date());
}

export function shownEvent({ occurredAt, ...event }: StoredEvent): ShownEvent {
  const { id, event: name, ...rest } = event;
  return { id, event: name, occurredAt: occurredAt.toISOString(), ...rest };
}
