// Reads the audit trail: a list of the newest events, an export of all of a time, and what is written from now on.
import type { StoredEvent } from '../audit/audit-trail.reader.js';
import { shownEvent } from '../audit/audit-trail.reader.js';
import type { TimeRange, TrailFilter, TrailPerson, TrailPlace } from '../audit/trail-filter.js';
import { MOST_DAYS, checkEvent, checkRange, checkReason, checkText } from '../audit/trail-filter.js';
import type { TrailOrder } from '../audit/trail-statements.sql.js';
import { isId } from '../platform/text/id.js';
import { momentOf } from '../platform/text/moment.js';
import type { User } from '../users/user.repository.js';
import { CommandError, InputError } from './command-error.js';
import type { Members } from './input.js';
import { checkedText, members, optional, storableText, wholeNumber } from './input.js';
import type { InstanceParts } from './instance-parts.js';
import { trustedEntries } from './list-entries.operation.js';
import { listOperation } from './operation.js';
import { userIdOf } from './users.operations.js';

export const MOST_LISTED = 10_000;
export const MOST_LINES = 1_000;
/** The embedded database reads a page on the main thread, which requests wait for meanwhile. */
const PAGE_SIZE = 250;
const HOUR_MS = 3_600_000;

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

/** Of commands. */
const SOUGHT = {
  ...EVENT_FILTERS,
  /** Whom it is about, also in a refused token: a user, or an e-mail address or `sub` that only tokens have. */
  person: optional(checkedText(checkText)),
};
export type SoughtEvents = Members<typeof SOUGHT>;

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: HOUR_MS, d: 24 * HOUR_MS };
const AGO = /^(\d{1,6})([smhd])$/;

/** A moment, or how long before now it was, by the clock of the instance. */
const momentOrAgo = checkedText<string>((text) =>
  momentOf(text) === undefined && !AGO.test(text)
    ? { rule: 'must be a moment such as 2031-05-01 or 2031-05-01T12:00:00Z, or 90m, 2h or 7d' }
    : { value: text },
);

/** Without `until` the range has no end. */
export const TIMES = {
  since: optional(momentOrAgo),
  until: optional(momentOrAgo),
  /** In place of both: so many hours until now, by the clock of the instance. */
  lastHours: optional(wholeNumber(1, MOST_DAYS * 24)),
};
type SoughtTime = Members<typeof TIMES> & Pick<SoughtEvents, 'requestId'>;

const readExport = members({ ...SOUGHT, ...TIMES });
const readList = members({ ...SOUGHT, ...TIMES, limit: wholeNumber(1, MOST_LISTED + 1) });

export const LIST_EVENTS = listOperation('audit list', readList, {
  async *list({ limit, ...sought }, parts, stop) {
    let left = limit;
    const range = rangeOf(sought, parts.clock.now());
    for await (const page of pagesOf(sought, range, { order: 'newest', parts, stop })) {
      yield page.slice(0, left).map(shownEvent);
      left -= page.length;
      if (left <= 0) return;
    }
  },
});

export const EXPORT_EVENTS = listOperation('audit export', readExport, {
  async *list(sought, parts, stop) {
    const now = parts.clock.now();
    // It ends, even if events are written meanwhile.
    const range = { until: now, ...rangeOf(sought, now) };
    for await (const page of pagesOf(sought, range, { order: 'oldest', parts, stop }))
      yield page.map(shownEvent);
  },
});

/** So many of the last day come first. */
const readTail = members({ ...SOUGHT, lines: wholeNumber(0, MOST_LINES) });

/** The last events as far as one page looks back, then the stream, as sinks get it: each once. */
export const TAIL_EVENTS = listOperation('audit tail', readTail, {
  async *list({ lines, ...sought }, parts, stop) {
    const { trail, clock } = parts;
    const filter = await filterOf(sought, parts);
    const present = await trail.present();
    if (lines > 0) {
      const place = { range: rangeOf({}, clock.now()) };
      const old = { ...filter, upToTransaction: present.transactionId };
      const { events } = await trail.page({ filter: old, place, order: 'newest', limit: lines });
      yield events.toReversed().map(shownEvent);
    }
    for await (const news of trail.follow(present, filter, stop)) yield news.map(shownEvent);
  },
});

async function* pagesOf(
  sought: SoughtEvents,
  range: TimeRange,
  { order, parts, stop }: { order: TrailOrder; parts: InstanceParts; stop: AbortSignal },
): AsyncGenerator<readonly StoredEvent[], void> {
  const filter = await filterOf(sought, parts);
  let place: TrailPlace | undefined = { range };
  do {
    const { events, next } = await parts.trail.page({ filter, place, order, limit: PAGE_SIZE });
    yield events;
    place = next;
  } while (place !== undefined && !stop.aborted);
  // Else it would look as if that were all.
  if (place !== undefined) throw new CommandError('Reading was stopped: the list is incomplete.');
}

/** @throws CommandError for an e-mail address that no user has */
export async function filterOf(
  { user, subject, person: text, event, issuer, kid, reason, requestId }: SoughtEvents,
  parts: InstanceParts,
): Promise<TrailFilter> {
  const [userId, subjectUserId] = [await userIdOf(user, parts), await userIdOf(subject, parts)];
  const person = text === undefined ? undefined : (await findPerson(text, parts)).person;
  return { event, userId, subjectUserId, person, issuer, kid, reason, requestId };
}

/**
 * Whom a text names: a user by id, e-mail address or the `sub` that a trusted issuer has for one; else somebody known only from tokens.
 */
export async function findPerson(
  text: string,
  parts: InstanceParts,
): Promise<{ readonly person: TrailPerson; readonly user?: User }> {
  const user = await userNamed(text, parts);
  const names = user === undefined ? [text] : [user.email, ...(await parts.userProfiles.subjectsOf(user.id))];
  const userId = user?.id ?? (isId(text) ? text.toLowerCase() : undefined);
  return { person: { userId, hashes: names.flatMap((name) => parts.personHashes.sought(name)) }, user };
}

async function userNamed(text: string, parts: InstanceParts): Promise<User | undefined> {
  const { users, userProfiles } = parts;
  if (isId(text)) return users.findById(text.toLowerCase());
  if (text.includes('@')) return users.findByEmail(text);
  const issuers = (await trustedEntries(parts)).map(({ issuer }) => issuer);
  const id = await userProfiles.findBySubject(text, [...new Set(issuers)]);
  return id === undefined ? undefined : users.findById(id);
}

/** @throws InputError for a time that is too long, or that ends before it begins */
export function rangeOf({ since, until, lastHours, requestId }: SoughtTime, now: Date): TimeRange {
  if (lastHours !== undefined) {
    if (since !== undefined || until !== undefined)
      throw new InputError('lastHours', 'is given in place of since and until');
    return { since: new Date(now.getTime() - lastHours * HOUR_MS) };
  }
  const dateOf = (text: string | undefined) => {
    const [, count, unit = ''] = AGO.exec(text ?? '') ?? [];
    if (count !== undefined) return new Date(now.getTime() - Number(count) * (UNITS_MS[unit] ?? 0));
    return text === undefined ? undefined : new Date(text);
  };
  const checked = checkRange({ since: dateOf(since), until: dateOf(until) }, { requestId }, now);
  if ('rule' in checked) throw new InputError('since', checked.rule);
  return checked.value;
}
