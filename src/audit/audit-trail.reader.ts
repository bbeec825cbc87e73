// Reads the audit trail page by page, and follows it, at a cost that does not grow with its length.
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { TimeRange, TrailFilter } from './trail-filter.js';
import type { Look, LookedRow, TrailIndex, TrailOrder } from './trail-statements.sql.js';
import { ID_AT, LOOK_AFTER, LOOKS, OLDEST_OPEN_TRANSACTION } from './trail-statements.sql.js';

/** An event as it is stored. Ids of local users only: no e-mail address, external sub or token. */
export interface StoredEvent {
  /** Decimal digits. Ids grow; two events that happened at nearly the same moment may have theirs in another order. */
  readonly id: string;
  /** Its name. */
  readonly event: string;
  readonly occurredAt: Date;
  readonly requestId: string;
  /** What an untrusted client called its request. */
  readonly clientRequestId?: string;
  readonly subjectUserId: string | null;
  readonly actorUserId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Where a reading ended. */
export interface TrailPlace {
  /** Id of the last event that was looked at. */
  readonly id: string;
  readonly occurredAt: Date;
}

export interface TrailQuery {
  readonly filter: TrailFilter;
  readonly range: TimeRange;
  readonly order: TrailOrder;
  /** Only what lies behind it in this order. */
  readonly after?: Pick<TrailPlace, 'id'>;
  /** So many events at most. */
  readonly limit: number;
}

export interface TrailPage {
  readonly events: readonly StoredEvent[];
  /** Where the next page begins; undefined where nothing is left. A page may hold fewer events than asked for and not be the last. */
  readonly end: TrailPlace | undefined;
}

/**
 * Ids are given when a row is written, times when the work begins, by the clock of the instance that does it: so much they may
 * disagree.
 */
const DISORDER_MS = 5 * 60_000;
const LARGEST_ID = 2n ** 63n - 1n;

/** So many rows one statement looks at, and so many all of a page: those of an index lie apart, and cost more. */
const DEPTHS: Readonly<Record<TrailIndex, { statement: number; page: number }>> = {
  id: { statement: 5_000, page: 50_000 },
  subject: { statement: 1_000, page: 5_000 },
  request: { statement: 1_000, page: 5_000 },
};

/** So many rows one look at what is new looks at, and so long after it the next one follows. */
const FOLLOWED_DEPTH = 1_000;
const LOOK_EVERY_MS = 1_000;

/** The ids among which events of some time lie, both included. */
type IdRange = Pick<Look, 'first' | 'last'>;

/** The rows that were read for a page. */
interface Walk {
  readonly rows: LookedRow[];
  end: LookedRow | undefined;
}

/**
 * @rule D85 The trail is read along its primary key, or an index of subjects or requests, and a page looks at so many rows and no
 * more. Rare events are found by going on from its end.
 */
@Injectable()
export class AuditTrailReader {
  constructor(private readonly database: Database) {}

  /** One page of the events of a time of which a filter is true. */
  async page(query: TrailQuery): Promise<TrailPage> {
    const { filter, limit, order } = query;
    const index = indexFor(filter);
    const ids = behind(query, await this.idsOf(query));
    const { rows, end } = await this.walk({ ...filter, ...query.range, ...ids }, { index, order, limit });
    const events = rows.map(storedEvent);
    // The query asks for one more, to know whether there are more.
    if (events.length > limit) return { events: events.slice(0, limit), end: events[limit - 1] };
    return { events, end: end && { id: end.id, occurredAt: end.occurredAt } };
  }

  /** All events of one request, or of those that their clients called so, the oldest first: as many as are asked for. */
  async ofRequest(requestId: string, limit = 100): Promise<readonly StoredEvent[]> {
    const { events } = await this.page({ filter: { requestId }, range: {}, order: 'oldest', limit });
    return events;
  }

  /** The oldest transaction that is open, or else the next one: where `follow` begins, so that it misses nothing that is not written yet. */
  async oldestOpenTransaction(): Promise<string> {
    const [oldest] = await OLDEST_OPEN_TRANSACTION.run(this.database.dataSource, {});
    return oldest?.id ?? '0';
  }

  /**
   * Yields the events of a transaction and of those that follow it, as far as none is open, once a second, even if there are none.
   * @param stop ends it
   */
  async *follow(
    sought: TrailFilter & TimeRange,
    transactionId: string,
    stop: AbortSignal,
  ): AsyncGenerator<readonly StoredEvent[], void> {
    let place = { transactionId, eventId: '0' };
    while (!stop.aborted) {
      const look = { ...sought, ...place, depth: FOLLOWED_DEPTH };
      const rows = await LOOK_AFTER.run(this.database.dataSource, look);
      const last = rows.at(-1);
      if (last !== undefined) place = { transactionId: last.transactionId, eventId: last.id };
      yield rows.filter(({ isFound }) => isFound).map(storedEvent);
      if (last?.isEnd !== true)
        await pause(LOOK_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
    }
  }

  /** Looks on until one event more than asked for is found, nothing is left, or the page has looked far enough. */
  private async walk(
    sought: Omit<Look, 'depth' | 'limit'>,
    { index, order, limit }: { index: TrailIndex; order: TrailOrder; limit: number },
  ): Promise<Walk> {
    const { statement: depth, page } = DEPTHS[index];
    const walk: Walk = { rows: [], end: undefined };
    let { first, last } = sought;
    for (let looked = 0; looked < page && first <= last; looked += depth) {
      const wanted = { ...sought, first, last, depth, limit: limit + 1 - walk.rows.length };
      const rows = await LOOKS[index][order].run(this.database.dataSource, wanted);
      walk.rows.push(...rows.filter(({ isFound }) => isFound));
      const final = rows.at(-1);
      walk.end = final?.isEnd === true ? final : undefined;
      if (walk.end === undefined || walk.rows.length > limit) break;
      if (order === 'newest') last = BigInt(walk.end.id) - 1n;
      else first = BigInt(walk.end.id) + 1n;
    }
    return walk;
  }

  private async idsOf({ range: { since, until } }: Pick<TrailQuery, 'range'>): Promise<IdRange> {
    const [first, end] = await Promise.all([
      since === undefined ? 0n : this.idAt(new Date(since.getTime() - DISORDER_MS)),
      until === undefined ? LARGEST_ID : this.idAt(new Date(until.getTime() + DISORDER_MS)),
    ]);
    return { first, last: until === undefined ? end : end - 1n };
  }

  private async idAt(moment: Date): Promise<bigint> {
    const [place] = await ID_AT.run(this.database.dataSource, { moment });
    return BigInt(place?.id ?? 0);
  }
}

function indexFor({ requestId, subjectUserId }: TrailFilter): TrailIndex {
  if (requestId !== undefined) return 'request';
  return subjectUserId === undefined ? 'id' : 'subject';
}

function behind({ after, order }: TrailQuery, ids: IdRange): IdRange {
  if (after === undefined) return ids;
  const id = BigInt(after.id);
  if (order === 'newest') return { ...ids, last: id <= ids.last ? id - 1n : ids.last };
  return { ...ids, first: id >= ids.first ? id + 1n : ids.first };
}

function storedEvent(row: LookedRow): StoredEvent {
  const { id, event, occurredAt, requestId, clientRequestId, subjectUserId, actorUserId, payload } = row;
  const ofClient = clientRequestId === null ? {} : { clientRequestId };
  return { id, event, occurredAt, requestId, ...ofClient, subjectUserId, actorUserId, payload };
}
