// All events of the trail, page by page, by what they are, whom they are about, and when they happened.
import { members, oneOf, optional } from '../../administration/input.js';
import type { InstanceParts } from '../../administration/instance-parts.js';
import { listOperation } from '../../administration/operation.js';
import type { SoughtEvents } from '../../administration/read-audit-trail.operation.js';
import { EVENT_FILTERS, filterOf, shownEvent } from '../../administration/read-audit-trail.operation.js';
import type { StoredEvent } from '../../audit/audit-trail.reader.js';
import type { BoundedRange } from '../../audit/trail-summary.reader.js';
import type { Clock } from '../../platform/clock.js';
import { USUAL_LIMIT } from './pages.js';
import type { SoughtTime } from './trail-range.js';
import { PAGE, TIMES, cursorAt, placeIn, rangeOf } from './trail-range.js';
import type { WorkQueue } from './work-queue.js';

const STRANGERS = { strangers: optional(oneOf(['shown'])) };
const read = members({ ...EVENT_FILTERS, ...STRANGERS, ...TIMES, ...PAGE });

/** With a request id alone the whole trail is looked through, by an index. */
const WHOLE_TRAIL: BoundedRange = { since: new Date(0), until: new Date(0), isOpen: true };

/** A list of one page, the newest first. */
export function searchEvents(turns: WorkQueue, clock: Clock) {
  return listOperation('audit events', read, {
    async *list({ limit = USUAL_LIMIT, cursor, since, until, lastHours, strangers, ...sought }, parts) {
      const place = placeIn(cursor);
      const time = { since, until, lastHours };
      const range = place?.range ?? soughtRange(time, sought, clock.now());
      const query = {
        filter: {
          ...(await filterOf(sought, parts)),
          withoutStrangers: strangers === undefined && !asksForRefusals(sought),
        },
        range: { since: range.since, ...(!range.isOpen && { until: range.until }) },
        ...({ order: 'newest', after: place && { id: place.id }, limit } as const),
      };
      const { events, end } = await turns.take(() => parts.trail.page(query));
      yield [
        {
          data: events.map(shownEvent),
          nextCursor: end === undefined ? null : cursorAt(end.id, range),
          people: await peopleIn(events, parts),
          // How far back this page has searched; null on the last one.
          lookedBackTo: end?.occurredAt.toISOString() ?? null,
        },
      ];
    },
  });
}

/** What strangers may have sent is found where it is asked for: it could hide everything else (D79). */
function asksForRefusals({ reason, issuer, kid, requestId }: SoughtEvents): boolean {
  return [reason, issuer, kid, requestId].some((filter) => filter !== undefined);
}

/** @throws InputError */
function soughtRange(time: SoughtTime, { requestId }: SoughtEvents, now: Date): BoundedRange {
  const isTimed = Object.values(time).some((one) => one !== undefined);
  return requestId !== undefined && !isTimed ? WHOLE_TRAIL : rangeOf(time, now);
}

/** The e-mail addresses of their subjects and actors, by id; of those who are still there. */
async function peopleIn(
  events: readonly StoredEvent[],
  { users }: InstanceParts,
): Promise<Readonly<Record<string, string>>> {
  const ids = events.flatMap(({ subjectUserId, actorUserId }) => [subjectUserId, actorUserId]);
  const known = [...new Set(ids)].filter((id) => id !== null);
  const found = await Promise.all(known.map((id) => users.findById(id)));
  return Object.fromEntries(found.flatMap((user) => (user === undefined ? [] : [[user.id, user.email]])));
}
