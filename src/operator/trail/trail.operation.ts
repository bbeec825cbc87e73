// The audit trail for operators: counts of exchanges and refusals, single refusals, and their causes.
import { Inject, Injectable } from '@nestjs/common';
import { UserProfileRepository } from '../../administration/accounts/user-profile.repository.js';
import { explainedRequest, explanationOf } from '../../administration/explain/explain-token.operation.js';
import { inputOf, Read, readNothing } from '../../administration/operation.js';
import type { SoughtEvents } from '../../administration/trail/read-audit-trail.operation.js';
import {
  EVENT_FILTERS,
  rangeOf,
  TIMES,
  TrailFilters,
} from '../../administration/trail/read-audit-trail.operation.js';
import { listedUser } from '../../administration/users/users.operations.js';
import type { StoredEvent } from '../../audit/audit-trail.reader.js';
import { AuditTrailReader, shownEvent, shownPage } from '../../audit/audit-trail.reader.js';
import { READING_EVENT, REFUSAL_EVENTS } from '../../audit/instance-events.js';
import type { TrailFilter } from '../../audit/trail-filter.js';
import { checkCursor } from '../../audit/trail-filter.js';
import type { EventCount, EventGroup } from '../../audit/trail-summary.reader.js';
import { TrailSummaryReader } from '../../audit/trail-summary.reader.js';
import type { Startup } from '../../config/startup.js';
import { STARTUP } from '../../config/startup.js';
import { Clock } from '../../platform/clock.js';
import { WorkQueue } from '../../platform/http/throttle/work-queue.js';
import { oneOf, readBy, storableString, wholeNumber } from '../../platform/input/schemas.js';
import type { User } from '../../users/user.repository.js';
import { UserRepository } from '../../users/user.repository.js';
import { DEFAULT_LIMIT, MAX_LIMIT, SEARCH_LIMITS } from '../api/list-page.js';
import { inLabels } from '../entries/entry-form.js';

const DAY_MS = 86_400_000;
const SESSION_BUCKETS = 48;
/** The newest events. */
const MAX_SESSION_EVENTS = 10_000;

const MAX_BUCKETS = 96;
const USUAL_BUCKETS = 24;

const readActivity = inputOf({ ...TIMES, buckets: wholeNumber(1, MAX_BUCKETS).optional() });
type ActivityQuery = ReturnType<typeof readActivity>;

const TRAIL_PAGE = {
  limit: wholeNumber(1, MAX_LIMIT).optional(),
  cursor: readBy(storableString(), checkCursor).optional(),
};
/** Includes what is left out by default because it would bury everything else. */
const ALSO = { also: oneOf(['readings', 'strangers', 'everything']).optional() };
const readEventSearch = inputOf({ ...EVENT_FILTERS, ...ALSO, ...TIMES, ...TRAIL_PAGE });
type EventSearch = ReturnType<typeof readEventSearch>;

/**
 * The filters of all events, except that `user` may also be an e-mail address or a `sub` that only tokens
 * contain.
 */
const REFUSAL_FILTERS = { ...EVENT_FILTERS, ...TIMES, event: oneOf(REFUSAL_EVENTS).optional() };
const readFilters = inputOf(REFUSAL_FILTERS);
type RefusalFilters = ReturnType<typeof readFilters>;
const readSearch = inputOf({ ...REFUSAL_FILTERS, ...TRAIL_PAGE });
type RefusalSearch = ReturnType<typeof readSearch>;

@Injectable()
export class TrailOperations {
  /** Runs searches of the trail one at a time. */
  private readonly queue = new WorkQueue(SEARCH_LIMITS);

  constructor(
    private readonly summary: TrailSummaryReader,
    private readonly trail: AuditTrailReader,
    private readonly filters: TrailFilters,
    private readonly users: UserRepository,
    private readonly profiles: UserProfileRepository,
    private readonly clock: Clock,
    @Inject(STARTUP) private readonly startup: Startup,
  ) {}

  /**
   * The group with the newest refusal comes first, at most a hundred. The totals include groups that are left
   * out.
   */
  @Read('audit refusal-groups', readFilters)
  async groupRefusals(search: RefusalFilters) {
    const range = rangeOf(search, this.clock.now());
    const { filter, user } = await this.soughtBy(search);
    const { groups, countedSince } = await this.queue.run(() => this.summary.groups(filter, range));
    return {
      person: await this.personAnswer(user),
      data: groups.slice(0, MAX_LIMIT).map(explainedGroup),
      total: groups.reduce((sum, { count }) => sum + count, 0),
      groups: groups.length,
      complete: countedSince === undefined,
      countedSince: countedSince?.toISOString() ?? null,
    };
  }

  /** The number of live embedded sessions over the last day. */
  @Read('sessions history', readNothing)
  async countSessions() {
    const lifetimeMs = this.startup.config.sessionLifetimeSeconds * 1000;
    const until = this.clock.nowMs();
    const since = until - DAY_MS;
    const filter = { event: SESSION_EVENTS };
    const place = { range: { since: new Date(since - lifetimeMs) } };
    const limit = MAX_SESSION_EVENTS;
    const found = await this.queue.run(() => this.trail.page({ filter, place, order: 'newest', limit }));
    const { events, lookedBackTo = place.range.since } = found;
    const stepMs = DAY_MS / SESSION_BUCKETS;
    const ends = Array.from({ length: SESSION_BUCKETS }, (_, index) => since + (index + 1) * stepMs);
    const live = liveSessions(events, lifetimeMs, ends);
    const isoOf = (ms: number) => new Date(ms).toISOString();
    return {
      since: isoOf(since),
      until: isoOf(until),
      lifetimeSeconds: lifetimeMs / 1000,
      // The number at the end of each bucket.
      buckets: ends.map((end, index) => ({
        from: isoOf(end - stepMs),
        until: isoOf(end),
        live: live[index] ?? 0,
        complete: end >= lookedBackTo.getTime() + lifetimeMs,
      })),
    };
  }

  @Read('audit activity', readActivity)
  async countActivity(query: ActivityQuery) {
    const { buckets: wanted = USUAL_BUCKETS, ...sought } = query;
    const now = this.clock.now();
    const { since = now, until } = rangeOf(sought, now);
    const spanSeconds = ((until ?? now).getTime() - since.getTime()) / 1000;
    const seconds = Math.max(1, Math.ceil(spanSeconds / wanted));
    const parts = { seconds, number: Math.ceil(spanSeconds / seconds) };
    const found = await this.queue.run(() => this.summary.count({ since, until }, parts));
    const { counts, readEvents, countedSince } = found;
    const buckets = Array.from({ length: parts.number }, (_, index) => {
      const from = new Date(since.getTime() + index * seconds * 1000);
      const own = counts.filter(({ bucket }) => bucket === index);
      const complete = countedSince === undefined || from >= countedSince;
      const reasons = Object.fromEntries(refusalsByReason(own));
      return { from: from.toISOString(), ...outcomesOf(own), reasons, complete };
    });
    return {
      since: since.toISOString(),
      until: (until ?? now).toISOString(),
      unit: 'events',
      bucketSeconds: seconds,
      // Whether the whole range was counted; otherwise counting begins at `countedSince`.
      complete: countedSince === undefined,
      readEvents,
      countedSince: (countedSince ?? since).toISOString(),
      buckets,
      ...causesIn(counts),
    };
  }

  @Read('audit refusals', readSearch)
  async findRefusals(search: RefusalSearch) {
    const { limit = DEFAULT_LIMIT, cursor, ...sought } = search;
    const place = cursor ?? { range: rangeOf(sought, this.clock.now()) };
    const { filter } = await this.soughtBy(sought);
    const page = await this.queue.run(() => this.trail.page({ filter, place, order: 'newest', limit }));
    return shownPage(page, refusalOf);
  }

  @Read('audit events', readEventSearch)
  async findEvents({ limit = DEFAULT_LIMIT, cursor, also, ...sought }: EventSearch) {
    const shows = (kind: string) => also === kind || also === 'everything';
    const filter = {
      ...(await this.filters.of(sought)),
      withoutStrangers: !shows('strangers') && !asksForRefusals(sought),
      withoutReadings: !shows('readings') && !asksForReadings(sought),
    };
    const place = cursor ?? { range: rangeOf(sought, this.clock.now()) };
    const page = await this.queue.run(() => this.trail.page({ filter, place, order: 'newest', limit }));
    return { ...shownPage(page, shownEvent), people: await this.peopleIn(page.events) };
  }

  /** The user that the search is about; null if it is not a user. */
  private async personAnswer(user: User | undefined) {
    const profile = user && (await this.profiles.find(user.id));
    if (user === undefined || profile === undefined) return null;
    const { links, signIns, sessions } = profile;
    return { ...listedUser(user), links, signIns, sessions };
  }

  /**
   * The filter of a search, and the user that `user` identifies. It may also identify a person known only
   * from tokens.
   */
  private async soughtBy({
    user,
    event,
    ...others
  }: RefusalFilters): Promise<{ readonly filter: TrailFilter; readonly user?: User }> {
    const filter = { ...(await this.filters.of(others)), event: event ?? REFUSAL_EVENTS };
    if (user === undefined) return { filter };
    const found = await this.filters.findPerson(user);
    return { filter: { ...filter, person: found.person }, user: found.user };
  }

  /** The e-mail addresses of the events' subjects and actors, by id. Deleted users are missing. */
  private async peopleIn(events: readonly StoredEvent[]): Promise<Readonly<Record<string, string>>> {
    const ids = events.flatMap(({ subjectUserId, actorUserId }) => [subjectUserId, actorUserId]);
    const known = [...new Set(ids)].filter((id) => id !== null);
    const found = await Promise.all(known.map((id) => this.users.findById(id)));
    return Object.fromEntries(found.flatMap((user) => (user === undefined ? [] : [[user.id, user.email]])));
  }
}

function isRefusal({ name }: EventCount): boolean {
  return name !== null && REFUSAL_EVENTS.includes(name);
}

function outcomesOf(counts: readonly EventCount[]) {
  const sum = (some: readonly EventCount[]) => some.reduce((total, { count }) => total + count, 0);
  const refused = sum(counts.filter(isRefusal));
  return { succeeded: sum(counts) - refused, refused };
}

/**
 * Counts by reason and by issuer. Null means no issuer, or one that is not trusted, so that all totals are
 * equal.
 */
function causesIn(counts: readonly EventCount[]) {
  return {
    reasons: refusalsByReason(counts).map(([reason, count]) => ({ reason, count })),
    issuers: sumsBy(counts, ({ issuer }) => issuer).map(([issuer]) => ({
      issuer,
      ...outcomesOf(counts.filter((one) => one.issuer === issuer)),
    })),
  };
}

function refusalsByReason(counts: readonly EventCount[]): [string, number][] {
  return sumsBy(counts.filter(isRefusal), ({ reason }) => reason ?? '');
}

/** Largest first. */
function sumsBy<Word>(counts: readonly EventCount[], wordOf: (count: EventCount) => Word): [Word, number][] {
  const sums = new Map<Word, number>();
  for (const one of counts) sums.set(wordOf(one), (sums.get(wordOf(one)) ?? 0) + one.count);
  return [...sums].sort(([, a], [, b]) => b - a);
}

/** Refusals with the same reason, issuer and key, explained once. */
function explainedGroup({ event, reason, issuer, kid, count, oldestAt, newestAt }: EventGroup) {
  const times = { firstAt: oldestAt.toISOString(), lastAt: newestAt.toISOString() };
  return { event, reason, ...inLabels(explanationOf(event, reason)), issuer, kid, count, ...times };
}

function refusalOf(stored: StoredEvent) {
  const { id, requestId } = stored;
  const [event] = explainedRequest(requestId, [stored]).events;
  if (event === undefined) throw new Error('an event was not explained');
  return { id, requestId, ...inLabels(event) };
}

/**
 * Events that strangers may have caused are found only on request, because they could bury everything else
 * (D79).
 */
function asksForRefusals({ reason, issuer, kid, requestId }: SoughtEvents): boolean {
  return [reason, issuer, kid, requestId].some((filter) => filter !== undefined);
}

function asksForReadings({ event, requestId }: SoughtEvents): boolean {
  return requestId !== undefined || event === READING_EVENT;
}

type SessionEvent = Pick<StoredEvent, 'event' | 'occurredAt' | 'subjectUserId' | 'payload'>;

const LOGIN = 'svc.audit.token-exchange.embed-login';

/** What an event ends, as tags that `tagsOf` also gives to logins. */
const ENDS: Readonly<Record<string, (event: SessionEvent) => readonly string[]>> = {
  'svc.audit.session.ended': ({ payload }) => (payload['sessionFamilyIds'] as string[]).map(familyTag),
  'svc.audit.token-exchange.user-signed-out': ({ subjectUserId }) => [`user ${subjectUserId}`],
  'svc.audit.token-exchange.trust-revoked': ({ payload }) => [keyTag(payload)],
};

/** The events from which the history of sessions is computed. */
const SESSION_EVENTS: readonly string[] = [LOGIN, ...Object.keys(ENDS)];

/**
 * A session lives from its login until the next login in its family, an event that ends it, or the end of its
 * lifetime.
 * @param events of `SESSION_EVENTS`, in any order, beginning one lifetime before the first moment
 * @param moments in milliseconds since the Unix epoch, like all times
 * @returns the number of live sessions at each moment
 */
export function liveSessions(
  events: readonly SessionEvent[],
  lifetimeMs: number,
  moments: readonly number[],
): number[] {
  const logins = events.filter(({ event, payload }) => event === LOGIN && 'sessionFamilyId' in payload);
  const turns = new Map<string, number[]>();
  const note = (tag: string, { occurredAt }: SessionEvent) =>
    turns.set(tag, [...(turns.get(tag) ?? []), occurredAt.getTime()]);
  for (const event of events) for (const tag of ENDS[event.event]?.(event) ?? []) note(tag, event);
  for (const login of logins) note(familyTag(String(login.payload['sessionFamilyId'])), login);
  const lives = logins.map((login) => {
    const from = login.occurredAt.getTime();
    const later = tagsOf(login).flatMap((tag) => turns.get(tag)?.filter((turn) => turn > from) ?? []);
    return { from, until: Math.min(from + lifetimeMs, ...later) };
  });
  return moments.map((moment) => lives.filter(({ from, until }) => from <= moment && moment < until).length);
}

function tagsOf({ subjectUserId, payload }: SessionEvent): string[] {
  const { issuer, sessionFamilyId } = payload;
  return [familyTag(String(sessionFamilyId)), `user ${subjectUserId}`, keyTag(payload), keyTag({ issuer })];
}

function familyTag(id: string): string {
  return `family ${id}`;
}

/** Without a key, the tag for all keys of the issuer. */
function keyTag({ issuer, kid }: Readonly<Record<string, unknown>>): string {
  return `key ${JSON.stringify([issuer, kid])}`;
}
