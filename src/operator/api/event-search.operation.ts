// All events of the trail, page by page, by what they are, whom they are about, and when they happened.
import { checkedText, members, oneOf, optional, wholeNumber } from '../../administration/input.js';
import type { InstanceParts } from '../../administration/instance-parts.js';
import { listOperation } from '../../administration/operation.js';
import type { SoughtEvents } from '../../administration/read-audit-trail.operation.js';
import { EVENT_FILTERS, TIMES, filterOf, rangeOf } from '../../administration/read-audit-trail.operation.js';
import type { StoredEvent } from '../../audit/audit-trail.reader.js';
import { shownEvent, shownPage } from '../../audit/audit-trail.reader.js';
import { READING_EVENT } from '../../audit/instance-events.js';
import { checkCursor } from '../../audit/trail-filter.js';
import { MOST_LISTED, USUAL_LIMIT } from './pages.js';
import type { WorkQueue } from './work-queue.js';

/** Which page of the trail. */
export const TRAIL_PAGE = {
  limit: optional(wholeNumber(1, MOST_LISTED)),
  cursor: optional(checkedText(checkCursor)),
};
/** What is left out otherwise, since it would hide everything else. */
const ALSO = { also: optional(oneOf(['readings', 'strangers', 'everything'])) };
const read = members({ ...EVENT_FILTERS, ...ALSO, ...TIMES, ...TRAIL_PAGE });

/** A list of one page, the newest first. @param turns of looks at the trail */
export function searchEvents(turns: WorkQueue) {
  return listOperation('audit events', read, {
    async *list({ limit = USUAL_LIMIT, cursor, also, ...sought }, parts) {
      const shows = (kind: string) => also === kind || also === 'everything';
      const filter = {
        ...(await filterOf(sought, parts)),
        withoutStrangers: !shows('strangers') && !asksForRefusals(sought),
        withoutReadings: !shows('readings') && !asksForReadings(sought),
      };
      const place = cursor ?? { range: rangeOf(sought, parts.clock.now()) };
      const page = await turns.take(() => parts.trail.page({ filter, place, order: 'newest', limit }));
      yield [{ ...shownPage(page, shownEvent), people: await peopleIn(page.events, parts) }];
    },
  });
}

/** What strangers may have sent is found where it is asked for: it could hide everything else (D79). */
function asksForRefusals({ reason, issuer, kid, requestId }: SoughtEvents): boolean {
  return [reason, issuer, kid, requestId].some((filter) => filter !== undefined);
}

function asksForReadings({ event, requestId }: SoughtEvents): boolean {
  return requestId !== undefined || event === READING_EVENT;
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
