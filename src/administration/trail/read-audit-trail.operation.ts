// Reads the audit trail: a list of the newest events, an export of a time range, and a stream of new events.
import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { ShownEvent, StoredEvent } from '../../audit/audit-trail.reader.js';
import { AuditTrailReader, shownEvent } from '../../audit/audit-trail.reader.js';
import { PersonHashes } from '../../audit/person-hashes.js';
import type { TimeRange, TrailFilter, TrailPerson, TrailPlace } from '../../audit/trail-filter.js';
import { checkEvent, checkRange, checkReason, checkText, MAX_DAYS } from '../../audit/trail-filter.js';
import type { TrailOrder } from '../../audit/trail-statements.sql.js';
import { Clock } from '../../platform/clock.js';
import { readBy, storableString, wholeNumber } from '../../platform/input/schemas.js';
import { isId } from '../../platform/text/id.js';
import { momentOf } from '../../platform/text/moment.js';
import { StoredEntryChanges } from '../../token-exchange/instance.js';
import type { User } from '../../users/user.repository.js';
import { UserRepository } from '../../users/user.repository.js';
import { UserProfileRepository } from '../accounts/user-profile.repository.js';
import { trustedEntries } from '../entries/entries.operations.js';
import { CommandError, InputError, inputOf, Stream } from '../operation.js';
import { userIdOf } from '../users/users.operations.js';

export const MAX_LIMIT = 10_000;
export const MAX_LINES = 1_000;
/** The embedded database reads a page on the main thread, which blocks requests. */
const PAGE_SIZE = 250;
const HOUR_MS = 3_600_000;

/** Missing properties do not limit the search. */
export const EVENT_FILTERS = {
  event: readBy(storableString(), checkEvent).optional(),
  /** Id or e-mail address of the subject or the actor. */
  user: storableString().optional(),
  /** Id or e-mail address. */
  subject: storableString().optional(),
  issuer: readBy(storableString(), checkText).optional(),
  reason: readBy(storableString(), checkReason).optional(),
  /** Key id, with or without an issuer. */
  kid: readBy(storableString(), checkText).optional(),
  requestId: readBy(storableString(), checkText).optional(),
};

const SOUGHT = {
  ...EVENT_FILTERS,
  /**
   * The person that the event is about, also in a refused token: a user, or an e-mail address or `sub` that
   * only tokens contain.
   */
  person: readBy(storableString(), checkText).optional(),
};
export type SoughtEvents = z.output<z.ZodObject<typeof SOUGHT>>;

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: HOUR_MS, d: 24 * HOUR_MS };
const AGO = /^(\d{1,6})([smhd])$/;

/** A moment, or a duration before now, by the instance's clock. */
const momentOrAgo = readBy(storableString(), (text) =>
  momentOf(text) === undefined && !AGO.test(text)
    ? { rule: 'must be a moment such as 2031-05-01 or 2031-05-01T12:00:00Z, or 90m, 2h or 7d' }
    : { value: text },
);

/** Without `until` the range is open-ended. */
export const TIMES = {
  since: momentOrAgo.optional(),
  until: momentOrAgo.optional(),
  /** Instead of both: the last hours, by the instance's clock. */
  lastHours: wholeNumber(1, MAX_DAYS * 24).optional(),
};
type SoughtTime = z.output<z.ZodObject<typeof TIMES>> & Pick<SoughtEvents, 'requestId'>;

const readExport = inputOf({ ...SOUGHT, ...TIMES });
const readList = inputOf({ ...SOUGHT, ...TIMES, limit: wholeNumber(1, MAX_LIMIT + 1) });
/** The tail begins with this many events of the last day. */
const readTail = inputOf({ ...SOUGHT, lines: wholeNumber(0, MAX_LINES) });

/** Resolves the persons in filters. */
@Injectable()
export class TrailFilters {
  constructor(
    private readonly users: UserRepository,
    private readonly subjects: UserProfileRepository,
    private readonly entries: StoredEntryChanges,
    private readonly personHashes: PersonHashes,
  ) {}

  /** @throws CommandError for an e-mail address that no user has */
  async of({ user, subject, person: text, ...others }: SoughtEvents): Promise<TrailFilter> {
    const { event, issuer, kid, reason, requestId } = others;
    const [userId, subjectUserId] = [await userIdOf(user, this.users), await userIdOf(subject, this.users)];
    const person = text === undefined ? undefined : (await this.findPerson(text)).person;
    return { event, userId, subjectUserId, person, issuer, kid, reason, requestId };
  }

  /**
   * The person that a string identifies: a user by id, e-mail address or the `sub` of a trusted issuer;
   * otherwise a person known only from tokens.
   */
  async findPerson(text: string): Promise<{ readonly person: TrailPerson; readonly user?: User }> {
    const user = await this.userNamed(text);
    const names = user === undefined ? [text] : [user.email, ...(await this.subjects.subjectsOf(user.id))];
    const userId = user?.id ?? (isId(text) ? text.toLowerCase() : undefined);
    return { person: { userId, hashes: names.flatMap((name) => this.personHashes.sought(name)) }, user };
  }

  private async userNamed(text: string): Promise<User | undefined> {
    if (isId(text)) return this.users.findById(text.toLowerCase());
    if (text.includes('@')) return this.users.findByEmail(text);
    const issuers = (await trustedEntries(this.entries)).map(({ issuer }) => issuer);
    const id = await this.subjects.findBySubject(text, [...new Set(issuers)]);
    return id === undefined ? undefined : this.users.findById(id);
  }
}

@Injectable()
export class AuditOperations {
  constructor(
    private readonly trail: AuditTrailReader,
    private readonly filters: TrailFilters,
    private readonly clock: Clock,
  ) {}

  @Stream('audit list', readList)
  async *list(
    { limit, ...sought }: ReturnType<typeof readList>,
    stop: AbortSignal,
  ): AsyncGenerator<readonly ShownEvent[]> {
    let left = limit;
    const range = rangeOf(sought, this.clock.now());
    for await (const page of this.pagesOf(sought, range, 'newest', stop)) {
      yield page.slice(0, left).map(shownEvent);
      left -= page.length;
      if (left <= 0) return;
    }
  }

  @Stream('audit export', readExport)
  async *export(
    sought: ReturnType<typeof readExport>,
    stop: AbortSignal,
  ): AsyncGenerator<readonly ShownEvent[]> {
    const now = this.clock.now();
    // Ends now, even if more events are written meanwhile.
    const range = { until: now, ...rangeOf(sought, now) };
    for await (const page of this.pagesOf(sought, range, 'oldest', stop)) yield page.map(shownEvent);
  }

  /** The latest events within one page, then the stream as sinks get it. Each event appears once. */
  @Stream('audit tail', readTail)
  async *tail(
    { lines, ...sought }: ReturnType<typeof readTail>,
    stop: AbortSignal,
  ): AsyncGenerator<readonly ShownEvent[]> {
    const filter = await this.filters.of(sought);
    const present = await this.trail.present();
    if (lines > 0) {
      const place = { range: rangeOf({}, this.clock.now()) };
      const old = { ...filter, upToTransaction: present.transactionId };
      const { events } = await this.trail.page({ filter: old, place, order: 'newest', limit: lines });
      yield events.toReversed().map(shownEvent);
    }
    for await (const news of this.trail.follow(present, filter, stop)) yield news.map(shownEvent);
  }

  private async *pagesOf(
    sought: SoughtEvents,
    range: TimeRange,
    order: TrailOrder,
    stop: AbortSignal,
  ): AsyncGenerator<readonly StoredEvent[]> {
    const filter = await this.filters.of(sought);
    let place: TrailPlace | undefined = { range };
    do {
      const { events, next } = await this.trail.page({ filter, place, order, limit: PAGE_SIZE });
      yield events;
      place = next;
    } while (place !== undefined && !stop.aborted);
    // Otherwise the list would look complete.
    if (place !== undefined) throw new CommandError('Reading was stopped: the list is incomplete.');
  }
}

/** @throws InputError for a range that is too long, or ends before it begins */
export function rangeOf({ since, until, lastHours, requestId }: SoughtTime, now: Date): TimeRange {
  if (lastHours !== undefined) {
    if (since !== undefined || until !== undefined)
      throw new InputError('lastHours', 'is given instead of since and until');
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
