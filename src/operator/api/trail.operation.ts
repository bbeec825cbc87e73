// What the audit trail tells an operator: how many exchanges and refusals there were, which refusals, and why.
import type { ExplainedEvent } from '../../administration/explained-request.js';
import { explainedRequest } from '../../administration/explained-request.js';
import type { MemberReader, Read } from '../../administration/input.js';
import { optional, readMembers, storableText, wholeNumber } from '../../administration/input.js';
import { InputError } from '../../administration/command-error.js';
import type { InstanceParts } from '../../administration/instance-parts.js';
import type { ListOperation } from '../../administration/operation.js';
import type { StoredEvent } from '../../audit/audit-trail.reader.js';
import type { Judgement } from '../../audit/trail-filter.js';
import { MOST_DAYS, judgeRange, judgeReason, judgeText } from '../../audit/trail-filter.js';
import type {
  BoundedRange,
  EventCount,
  EventCounts,
  RangeParts,
  RefusalPerson,
} from '../../audit/trail-summary.reader.js';
import type { TrailSummaryReader } from '../../audit/trail-summary.reader.js';
import { REFUSAL_EVENTS } from '../../audit/instance-events.js';
import { isId } from '../../platform/text/id.js';
import type { Clock } from '../../platform/clock.js';
import type { Page } from './pages.js';
import { MOST_LISTED, USUAL_LIMIT } from './pages.js';
import { Turns } from './turns.js';

const MOST_BUCKETS = 96;
const USUAL_BUCKETS = 24;
const HOUR_MS = 3_600_000;

/** Times are ISO 8601. Without `until` nothing that is newer is left out. */
interface SoughtTime {
  readonly since?: string;
  readonly until?: string;
  /** In place of both: 1 to 744, by the clock of the instance. */
  readonly lastHours?: number;
}

export interface ActivityQuery extends SoughtTime {
  /** 1 to 96. */
  readonly buckets?: number;
}

/** Numbers of events. */
interface Counted {
  readonly exchanges: number;
  readonly logins: number;
  readonly refusedExchanges: number;
  readonly refusedLogins: number;
  readonly refusedCalls: number;
}

export interface Activity {
  readonly since: string;
  readonly until: string;
  readonly unit: 'events';
  readonly bucketSeconds: number;
  /** Whether everything of this time was counted; else what happened since `countedSince`. */
  readonly complete: boolean;
  readonly readEvents: number;
  readonly countedSince: string;
  readonly buckets: readonly (Counted & { readonly from: string; readonly complete: boolean })[];
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
  readonly issuers: readonly {
    readonly issuer: string;
    readonly succeeded: number;
    readonly refused: number;
  }[];
}

export interface RefusalSearch extends SoughtTime {
  /** The id or e-mail address of a user, or an e-mail address or a `sub` of a token. */
  readonly user?: string;
  readonly issuer?: string;
  readonly reason?: string;
  readonly requestId?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

export type Refusal = ExplainedEvent & { readonly id: string; readonly requestId: string };

export interface RefusalPage extends Page<Refusal> {
  readonly since: string | null;
  readonly until: string | null;
  /** How far back this page has looked; null on the last one. */
  readonly lookedBackTo: string | null;
}

const TIMES = {
  since: optional(text(judgeMoment)),
  until: optional(text(judgeMoment)),
  lastHours: optional(wholeNumber(1, MOST_DAYS * 24)),
};

export class TrailOperations {
  /** Of looks at the trail (D112). */
  private readonly turns = new Turns();

  constructor(
    private readonly reader: TrailSummaryReader,
    private readonly clock: Clock,
  ) {}

  readonly activity: ListOperation<ActivityQuery, Activity> = {
    name: 'audit activity',
    read: (input) =>
      readMembers<ActivityQuery>(input, { ...TIMES, buckets: optional(wholeNumber(1, MOST_BUCKETS)) }),
    list: (query) => this.countActivity(query),
  };

  readonly refusals: ListOperation<RefusalSearch, RefusalPage> = {
    name: 'audit refusals',
    read: (input) =>
      readMembers<RefusalSearch>(input, {
        ...TIMES,
        user: optional(storableText),
        issuer: optional(text(judgeText)),
        reason: optional(text(judgeReason)),
        requestId: optional(text(judgeText)),
        limit: optional(wholeNumber(1, MOST_LISTED)),
        cursor: optional(text(judgeCursor)),
      }),
    list: (search, parts) => this.findRefusals(search, parts),
  };

  private async *countActivity({ buckets = USUAL_BUCKETS, ...sought }: ActivityQuery) {
    const range = this.rangeOf(sought);
    const spanSeconds = (range.until.getTime() - range.since.getTime()) / 1000;
    const seconds = Math.max(1, Math.ceil(spanSeconds / buckets));
    const parts = { seconds, number: Math.ceil(spanSeconds / seconds) };
    const counts = await this.turns.take(() => this.reader.count(range, parts));
    yield [activityOf(range, parts, counts)];
  }

  private async *findRefusals(search: RefusalSearch, parts: InstanceParts) {
    const { requestId, limit = USUAL_LIMIT } = search;
    if (requestId !== undefined) {
      const events = await parts.trail.ofRequest(requestId);
      const refused = events
        .filter(({ event }) => REFUSAL_EVENTS.some((name) => name === event))
        .toReversed();
      yield [
        { data: refused.map(refusalOf), nextCursor: null, since: null, until: null, lookedBackTo: null },
      ];
      return;
    }
    const place = placeIn(search.cursor);
    const range = place?.range ?? this.rangeOf(search);
    const { issuer, reason } = search;
    const filter = { person: await this.personOf(search.user, parts), issuer, reason };
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

  /** Somebody who is no user is known by what tokens say of them. */
  private async personOf(
    text: string | undefined,
    { users }: InstanceParts,
  ): Promise<RefusalPerson | undefined> {
    if (text === undefined) return undefined;
    const id = isId(text) ? text.toLowerCase() : undefined;
    const user = id === undefined ? await users.findByEmail(text) : await users.findById(id);
    return user === undefined ? { userId: id, names: [text] } : this.reader.userAsPerson(user);
  }

  /** @throws InputError */
  private rangeOf({ since, until, lastHours }: SoughtTime): BoundedRange {
    const now = this.clock.now();
    if (lastHours !== undefined) {
      if (since !== undefined || until !== undefined)
        throw new InputError('lastHours', 'is given in place of since and until');
      return { since: new Date(now.getTime() - lastHours * HOUR_MS), until: now, isOpen: true };
    }
    const moment = (value: string | undefined) => (value === undefined ? undefined : new Date(value));
    const judged = judgeRange({ since: moment(since), until: moment(until) }, {}, now);
    if ('rule' in judged) throw new InputError('since', judged.rule);
    const { since: begin = now, until: end } = judged.value;
    return { since: begin, until: end ?? now, isOpen: end === undefined };
  }
}

function activityOf(
  range: BoundedRange,
  { seconds: bucketSeconds, number }: RangeParts,
  found: EventCounts,
): Activity {
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

function countedOf(counts: readonly EventCount[]): Counted {
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

function refusalOf(stored: StoredEvent): Refusal {
  const { id, requestId } = stored;
  const [event] = explainedRequest(requestId, [stored]).events;
  if (event === undefined) throw new Error('an event was not explained');
  return { id, requestId, ...event };
}

/** It keeps the time of the first page: else its beginning would move with the clock. */
function cursorAt(id: string, { since, until, isOpen }: BoundedRange): string {
  return [id, since.getTime(), until.getTime(), ...(isOpen ? ['open'] : [])].join('.');
}

function placeIn(cursor: string | undefined): { id: string; range: BoundedRange } | undefined {
  if (cursor === undefined) return undefined;
  const [id = '', since, until, open] = cursor.split('.');
  const isOpen = open !== undefined;
  return { id, range: { since: new Date(Number(since)), until: new Date(Number(until)), isOpen } };
}

function judgeCursor(cursor: string): Judgement<string> {
  return /^\d{1,18}\.\d{1,14}\.\d{1,14}(\.open)?$/.test(cursor)
    ? { value: cursor }
    : { rule: 'must be the nextCursor of a page' };
}

function judgeMoment(value: string): Judgement<string> {
  return Number.isNaN(Date.parse(value)) ? { rule: 'must be a moment of ISO 8601' } : { value };
}

function text(judge: (value: string) => Judgement<string>): MemberReader<string> {
  return (value): Read<string> => {
    const read = storableText(value);
    return 'rule' in read ? read : judge(read.value);
  };
}
