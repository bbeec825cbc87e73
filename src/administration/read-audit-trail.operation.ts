// Reads the audit trail: a list of the newest events, an export of all of a time, and what is written from now on.
import type { StoredEvent, TrailPlace } from '../audit/audit-trail.reader.js';
import type { Checked, TimeRange, TrailFilter } from '../audit/trail-filter.js';
import { checkEvent, checkRange, checkReason, checkText } from '../audit/trail-filter.js';
import type { TrailOrder } from '../audit/trail-statements.sql.js';
import { userIdOf } from './users.operations.js';
import { CommandError, InputError } from './command-error.js';
import type { Members } from './input.js';
import { checkedText, members, moment, optional, storableText, wholeNumber } from './input.js';
import type { InstanceParts } from './instance-parts.js';
import { listOperation } from './operation.js';

/** An event as commands and the API show it. */
export interface ShownEvent extends Omit<StoredEvent, 'occurredAt'> {
  /** ISO 8601. */
  readonly occurredAt: string;
}

export const MOST_LISTED = 10_000;
export const MOST_LINES = 1_000;
/** The embedded database reads a page on the main thread, which requests wait for meanwhile. */
const PAGE_SIZE = 250;

/** Members that are absent do not limit. */
export const EVENT_FILTERS = {
  event: optional(checkedText(checkEvent)),
  /** Id or e-mail address, of the subject or of the actor. */
  user: optional(storableText),
  /** Id or e-mail address. */
  subject: optional(storableText),
  issuer: optional(checkedText(checkText)),
  reason: optional(checkedText(checkReason)),
  /** Key id, with an issuer or alone. */
  kid: optional(checkedText(checkText)),
  requestId: optional(checkedText(checkText)),
};
export type SoughtEvents = Members<typeof EVENT_FILTERS>;

const TIMES = { since: optional(moment), until: optional(moment) };
const readExport = members({ ...EVENT_FILTERS, ...TIMES });
type SoughtInTime = ReturnType<typeof readExport>;

const readList = members({ ...EVENT_FILTERS, ...TIMES, limit: wholeNumber(1, MOST_LISTED + 1) });

export const LIST_EVENTS = listOperation('audit list', (input) => inRange(readList(input)), {
  async *list({ limit, ...sought }, parts, stop) {
    let left = limit;
    for await (const page of pagesOf(sought, rangeOf(sought), { order: 'newest', parts, stop })) {
      yield page.slice(0, left).map(shownEvent);
      left -= page.length;
      if (left <= 0) return;
    }
  },
});

export const EXPORT_EVENTS = listOperation('audit export', (input) => inRange(readExport(input)), {
  async *list(sought, parts, stop) {
    // It ends, even if events are written meanwhile.
    const range = { until: new Date(), ...rangeOf(sought) };
    for await (const page of pagesOf(sought, range, { order: 'oldest', parts, stop }))
      yield page.map(shownEvent);
  },
});

/** So many of the last day come first. */
const readTail = members({ ...EVENT_FILTERS, lines: wholeNumber(0, MOST_LINES) });

export const TAIL_EVENTS = listOperation('audit tail', readTail, {
  async *list({ lines, ...sought }, parts, stop) {
    const filter = await filterOf(sought, parts);
    const newest = await parts.trailFollower.newestId();
    yield (await lastEvents(filter, newest, lines, parts)).map(shownEvent);
    for await (const page of parts.trailFollower.follow(filter, newest, stop)) yield page.map(shownEvent);
  },
});

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
function inRange<Input extends SoughtInTime>(input: Input): Input {
  const checked = checkedRange(input);
  if ('rule' in checked) throw new InputError('since', checked.rule);
  return input;
}

function rangeOf(input: SoughtInTime): TimeRange {
  const checked = checkedRange(input);
  if ('rule' in checked) throw new CommandError(`The time asked for ${checked.rule}.`);
  return checked.value;
}

function checkedRange({ since, until, requestId }: SoughtInTime): Checked<TimeRange> {
  const dateOf = (text: string | undefined) => (text === undefined ? undefined : new Date(text));
  return checkRange({ since: dateOf(since), until: dateOf(until) }, { requestId }, new Date());
}

export function shownEvent({ occurredAt, ...event }: StoredEvent): ShownEvent {
  const { id, event: name, ...rest } = event;
  return { id, event: name, occurredAt: occurredAt.toISOString(), ...rest };
}
