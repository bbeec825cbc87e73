// The audit trail for operators: numbers of exchanges and refusals, which refusals, and why.
import { Injectable } from '@nestjs/common';
import { explainedRequest, explanationOf } from '../../administration/explained-request.js';
import {
  checkedText,
  members,
  oneOf,
  optional,
  storableText,
  wholeNumber,
} from '../../administration/input.js';
import type { InstanceParts } from '../../administration/instance-parts.js';
import { listOperation } from '../../administration/operation.js';
import { listedUser } from '../../administration/users.operations.js';
import type { StoredEvent } from '../../audit/audit-trail.reader.js';
import { REFUSAL_EVENTS } from '../../audit/instance-events.js';
import { checkReason, checkText } from '../../audit/trail-filter.js';
import type {
  BoundedRange,
  EventCount,
  EventCounts,
  RangeParts,
  RefusalFilter,
  RefusalGroup,
} from '../../audit/trail-summary.reader.js';
import { TrailSummaryReader } from '../../audit/trail-summary.reader.js';
import { Clock } from '../../platform/clock.js';
import { isId } from '../../platform/text/id.js';
import type { User } from '../../users/user.repository.js';
import { searchEvents } from './event-search.operation.js';
import type { Page } from './pages.js';
import { MOST_LISTED, USUAL_LIMIT } from './pages.js';
import { PAGE, TIMES, cursorAt, placeIn, rangeOf } from './trail-range.js';
import { WorkQueue } from './work-queue.js';

const MOST_BUCKETS = 96;
const USUAL_BUCKETS = 24;

const readActivity = members({ ...TIMES, buckets: optional(wholeNumber(1, MOST_BUCKETS)) });
type ActivityQuery = ReturnType<typeof readActivity>;

const REFUSAL_FILTERS = {
  ...TIMES,
  /** The id or e-mail address of a user, or an e-mail address or a `sub` of a token. */
  user: optional(storableText),
  issuer: optional(checkedText(checkText)),
  kid: optional(checkedText(checkText)),
  reason: optional(checkedText(checkReason)),
  event: optional(oneOf(REFUSAL_EVENTS)),
};
const readFilters = members(REFUSAL_FILTERS);
const readSearch = members({ ...REFUSAL_FILTERS, ...PAGE });
type RefusalSearch = ReturnType<typeof readSearch>;

interface RefusalPage extends Page<ReturnType<typeof refusalOf>> {
  readonly since: string;
  readonly until: string;
  /** How far back this page has searched; null on the last one. */
  readonly lookedBackTo: string | null;
}

@Injectable()
export class TrailOperations {
  /** Of looks at the trail (D112). */
  private readonly turns = new WorkQueue();

  constructor(
    private readonly reader: TrailSummaryReader,
    private readonly clock: Clock,
  ) {}

  readonly activity = listOperation('audit activity', readActivity, {
    list: (query) => this.countActivity(query),
  });

  readonly refusals = listOperation('audit refusals', readSearch, {
    list: (search, parts) => this.findRefusals(search, parts),
  });

  readonly refusalGroups = listOperation('audit refusal-groups', readFilters, {
    list: (search, parts) => this.groupRefusals(search, parts),
  });

  /** All events. */
  readonly events = searchEvents(this.turns, this.clock);

  /** The one with the newest refusal first, a hundred at most; the totals count those that are left out, too. */
  private async *groupRefusals(search: RefusalSearch, parts: InstanceParts) {
    const range = rangeOf(search, this.clock.now());
    const user = await this.userOf(search.user, parts);
    const filter = await this.filterOf(search, user);
    const { groups, countedSince, isComplete } = await this.turns.take(() =>
      this.reader.groups(filter, range),
    );
    yield [
      {
        person: await this.personAnswer(user, parts),
        data: groups.slice(0, MOST_LISTED).map(explainedGroup),
        total: groups.reduce((sum, { count }) => sum + count, 0),
        groups: groups.length,
        since: range.since.toISOString(),
        until: range.until.toISOString(),
        complete: isComplete,
        countedSince: countedSince.toISOString(),
      },
    ];
  }

  private async *countActivity({ buckets = USUAL_BUCKETS, ...sought }: ActivityQuery) {
    const range = rangeOf(sought, this.clock.now());
    const spanSeconds = (range.until.getTime() - range.since.getTime()) / 1000;
    const seconds = Math.max(1, Math.ceil(spanSeconds / buckets));
    const parts = { seconds, number: Math.ceil(spanSeconds / seconds) };
    const counts = await this.turns.take(() => this.reader.count(range, parts));
    yield [activityOf(range, parts, counts)];
  }

  private async *findRefusals(search: RefusalSearch, parts: InstanceParts): AsyncGenerator<RefusalPage[]> {
    const { limit = USUAL_LIMIT } = search;
    const place = placeIn(search.cursor);
    const range = place?.range ?? rangeOf(search, this.clock.now());
    const filter = await this.filterOf(search, await this.userOf(search.user, parts));
    const sought = { filter, range, beforeId: place?.id, limit };
    const { events, end } = await this.turns.take(() => this.reader.refusals(sought));
    yield [
      {
        data: events.map(refusalOf),
        nextCursor: end === undefined ? null : cursorAt(end.id, range),
        since: range.since.toISOString(),
        until: range.until.toISOString(),
        lookedBackTo: end?.occurredAt.toISOString() ?? null,
      },
    ];
  }

  /** A person who is no user is known only from tokens. */
  private async filterOf(search: RefusalSearch, user: User | undefined): Promise<RefusalFilter> {
    const { user: text, issuer, kid, reason, event } = search;
    const others = { issuer, kid, reason, event };
    if (user !== undefined) return { person: await this.reader.userAsPerson(user), ...others };
    if (text === undefined) return others;
    return { person: { userId: isId(text) ? text.toLowerCase() : undefined, names: [text] }, ...others };
  }

  /** By id, e-mail address, or the `sub` that a trusted issuer has for one. */
  private async userOf(
    text: string | undefined,
    { users, userProfiles, storedEntries }: InstanceParts,
  ): Promise<User | undefined> {
    if (text === undefined) return undefined;
    if (isId(text)) return users.findById(text.toLowerCase());
    if (text.includes('@')) return users.findByEmail(text);
    const stored = (await storedEntries.list()).flatMap(({ entry }) => entry ?? []);
    const issuers = [...storedEntries.configured, ...stored].map(({ issuer }) => issuer);
    const id = await userProfiles.findBySubject(text, [...new Set(issuers)]);
    return id === undefined ? undefined : users.findById(id);
  }

  /** Who was asked for, where that is a user; null otherwise. */
  private async personAnswer(user: User | undefined, { userProfiles }: InstanceParts) {
    const profile = user && (await userProfiles.find(user.id, this.clock.now()));
    if (user === undefined || profile === undefined) return null;
    const { links, signIns, sessions } = profile;
    return { ...listedUser(user), links, signIns, sessions };
  }
}

function activityOf(range: BoundedRange, { seconds: bucketSeconds, number }: RangeParts, found: EventCounts) {
  const { counts, readEvents, countedSince, isComplete } = found;
  const buckets = Array.from({ length: number }, (_, index) => {
    const from = new Date(range.since.getTime() + index * bucketSeconds * 1000);
    const own = counts.filter(({ bucket }) => bucket === index);
    return { from: from.toISOString(), ...countedOf(own), complete: isComplete || from >= countedSince };
  });
  const refused = counts.filter(({ reason }) => reason !== null);
  return {
    since: range.since.toISOString(),
    until: range.until.toISOString(),
    unit: 'events',
    bucketSeconds,
    // Whether all of this time was counted; else only since `countedSince`.
    complete: isComplete,
    readEvents,
    countedSince: countedSince.toISOString(),
    buckets,
    reasons: sumsBy(refused, ({ reason }) => reason).map(([reason, count]) => ({ reason, count })),
    issuers: sumsBy(counts, ({ issuer }) => issuer).map(([issuer, all]) => {
      const own = refused.filter((one) => one.issuer === issuer).reduce((sum, { count }) => sum + count, 0);
      return { issuer, succeeded: all - own, refused: own };
    }),
  };
}

function countedOf(counts: readonly EventCount[]) {
  const sum = (event: string) =>
    counts.filter(({ name }) => name === `svc.audit.${event}`).reduce((total, { count }) => total + count, 0);
  return {
    exchanges: sum('token-exchange.succeeded'),
    logins: sum('token-exchange.embed-login'),
    refusedExchanges: sum('token-exchange.failed'),
    refusedLogins: sum('token-exchange.embed-login-failed'),
    refusedCalls: sum('api.refused'),
  };
}

/** The largest first. */
function sumsBy(
  counts: readonly EventCount[],
  wordOf: (count: EventCount) => string | null,
): [string, number][] {
  const sums = new Map<string, number>();
  for (const one of counts) {
    const word = wordOf(one);
    if (word !== null) sums.set(word, (sums.get(word) ?? 0) + one.count);
  }
  return [...sums].sort(([, a], [, b]) => b - a);
}

/** Refusals of one reason, issuer and key; the cause stands once. */
function explainedGroup({ event, reason, issuer, kid, count, oldestAt, newestAt }: RefusalGroup) {
  const times = { firstAt: oldestAt.toISOString(), lastAt: newestAt.toISOString() };
  return { event, reason, ...explanationOf(event, reason), issuer, kid, count, ...times };
}

function refusalOf(stored: StoredEvent) {
  const { id, requestId } = stored;
  const [event] = explainedRequest(requestId, [stored]).events;
  if (event === undefined) throw new Error('an event was not explained');
  return { id, requestId, ...event };
}
