// Which part of time a look at the trail is about, and the cursor by which its next page goes on in it.
import { InputError } from '../../administration/command-error.js';
import type { Members } from '../../administration/input.js';
import { checkedText, moment, optional, wholeNumber } from '../../administration/input.js';
import type { Checked } from '../../audit/trail-filter.js';
import { MOST_DAYS, checkRange } from '../../audit/trail-filter.js';
import type { BoundedRange } from '../../audit/trail-summary.reader.js';
import { MOST_LISTED } from './pages.js';

const HOUR_MS = 3_600_000;

/** Without `until` nothing that is newer is left out. */
export const TIMES = {
  since: optional(moment),
  until: optional(moment),
  /** In place of both, by the clock of the instance. */
  lastHours: optional(wholeNumber(1, MOST_DAYS * 24)),
};
export type SoughtTime = Members<typeof TIMES>;

/** Which page of the trail. */
export const PAGE = {
  limit: optional(wholeNumber(1, MOST_LISTED)),
  cursor: optional(checkedText(checkCursor)),
};

/** @throws InputError */
export function rangeOf({ since, until, lastHours }: SoughtTime, now: Date): BoundedRange {
  if (lastHours !== undefined) {
    if (since !== undefined || until !== undefined)
      throw new InputError('lastHours', 'is given in place of since and until');
    return { since: new Date(now.getTime() - lastHours * HOUR_MS), until: now, isOpen: true };
  }
  const dateOf = (value: string | undefined) => (value === undefined ? undefined : new Date(value));
  const checked = checkRange({ since: dateOf(since), until: dateOf(until) }, {}, now);
  if ('rule' in checked) throw new InputError('since', checked.rule);
  const { since: begin = now, until: end } = checked.value;
  return { since: begin, until: end ?? now, isOpen: end === undefined };
}

/** It keeps the time of the first page: else its beginning would move with the clock. */
export function cursorAt(id: string, { since, until, isOpen }: BoundedRange): string {
  return [id, since.getTime(), until.getTime(), ...(isOpen ? ['open'] : [])].join('.');
}

export function placeIn(cursor: string | undefined): { id: string; range: BoundedRange } | undefined {
  if (cursor === undefined) return undefined;
  const [id = '', since, until, open] = cursor.split('.');
  const isOpen = open !== undefined;
  return { id, range: { since: new Date(Number(since)), until: new Date(Number(until)), isOpen } };
}

function checkCursor(cursor: string): Checked<string> {
  return /^\d{1,18}\.\d{1,14}\.\d{1,14}(\.open)?$/.test(cursor)
    ? { value: cursor }
    : { rule: 'must be the nextCursor of a page' };
}
