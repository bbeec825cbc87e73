// Reads the audit trail as a stream, and in pages whose cost does not grow with its length.
import { setTimeout as pause } from 'node:timers/promises';
import type { StatementPool } from '../platform/database/database.js';
import type { TimeRange, TrailFilter, TrailPlace } from './trail-filter.js';
import { writeCursor } from './trail-filter.js';
import type {
  IdRange,
  Position,
  SearchedRow,
  Sought,
  TrailIndex,
  TrailOrder,
} from './trail-statements.sql.js';
import { ID_AT, PRESENT, SEARCHES, STREAM_SEARCH } from './trail-statements.sql.js';

/** A stored event. It contains the ids of local users, but no e-mail address, external sub or token. */
export interface StoredEvent {
  /** Decimal digits. Ids increase, but two nearly simultaneous events may have ids in the other order. */
  readonly id: string;
  /** The event's name. */
  readonly event: string;
  readonly occurredAt: Date;
  readonly requestId: string;
  /** The request id that an untrusted client has sent. */
  readonly clientRequestId?: string;
  readonly subjectUserId: string | null;
  readonly actorUserId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** An event as commands, the API and sinks output it. */
export interface ShownEvent extends Omit<StoredEvent, 'occurredAt'> {
  /** ISO 8601 in UTC, with milliseconds. */
  readonly occurredAt: string;
}

export function shownEvent({ id, event, occurredAt, ...rest }: StoredEvent): ShownEvent {
  return { id, event, occurredAt: occurredAt.toISOString(), ...rest };
}

interface TrailQuery {
  readonly filter: TrailFilter & Pick<Sought, 'upToTransaction'>;
  readonly place: TrailPlace;
  readonly order: TrailOrder;
  /** The maximum number of events. */
  readonly limit: number;
}

export interface TrailPage {
  readonly events: readonly StoredEvent[];
  /**
   * Where the next page begins; undefined after the last page. A page before the last may have few events or
   * none.
   */
  readonly next: TrailPlace | undefined;
  /** The time of the last event that was searched; undefined if the whole range was. */
  readonly lookedBackTo: Date | undefined;
}

/** A page in the format of the API and the operator's page. */
export function shownPage<Shown>(
  { events, next, lookedBackTo }: TrailPage,
  shown: (event: StoredEvent) => Shown,
) {
  return {
    data: events.map(shown),
    nextCursor: next === undefined ? null : writeCursor(next),
    lookedBackTo: lookedBackTo?.toISOString() ?? null,
  };
}

/** An event of the stream. */
export interface PlacedEvent {
  readonly event: StoredEvent;
  /** The position after the event. */
  readonly position: Position;
}

/** A section of the stream. */
interface TrailNews {
  readonly events: readonly PlacedEvent[];
  /** Where to continue; undefined if there was nothing more. */
  readonly end: Position | undefined;
}

/**
 * The largest expected difference between the order of ids and of times, in milliseconds. Ids are assigned
 * when a row is written. Times are taken when the work begins, by the clock of the instance that does it.
 */
const DISORDER_MS = 5 * 60_000;
const LARGEST_ID = 2n ** 63n - 1n;

/** How many rows one statement searches: the embedded database reads them on the main thread. */
export const SEARCH_DEPTH = 5_000;
/** How many rows one response searches at most. */
export const MAX_SEARCHED = 50_000;

/** Rows of some indexes are scattered, and cost more. */
const DEPTHS: Readonly<Record<TrailIndex, { statement: number; page: number }>> = {
  id: { statement: SEARCH_DEPTH, page: MAX_SEARCHED },
  person: { statement: SEARCH_DEPTH, page: MAX_SEARCHED },
  subject: { statement: 1_000, page: 5_000 },
  request: { statement: 1_000, page: 5_000 },
};

const FOLLOW_EVERY_MS = 1_000;
const FOLLOW_DEPTH = 1_000;

/**
 * @rule D85 The trail is read by its primary key, or by an index of subjects, persons or requests. A page
 * searches a limited number of rows. To find rare events, continue from its end.
 */
export class AuditTrailReader {
  constructor(private readonly database: StatementPool) {}

  /**
   * Searches until one event more than requested is found, nothing is left, or the limit of rows is reached.
   */
  async page({ filter, place, order, limit }: TrailQuery): Promise<TrailPage> {
    const { range } = place;
    const index = indexFor(filter);
    const { text, values } = SEARCHES[index][order];
    const { statement: depth, page: most } = DEPTHS[index];
    let ids = rangeAfter(place, order, await this.idsOf(range));
    const found: SearchedRow[] = [];
    let end: SearchedRow | undefined;
    for (let searched = 0; searched < most && ids.first <= ids.last; searched += depth) {
      // One additional event shows that there are more.
      const wanted = { ...filter, ...range, ...ids, depth, limit: limit + 1 - found.length };
      const rows = await this.database.query<SearchedRow>(text, values(wanted));
      found.push(...rows.filter(({ isFound }) => isFound));
      const last = rows.at(-1);
      end = last?.isEnd === true ? last : undefined;
      if (end === undefined || found.length > limit) break;
      ids = rangeAfter(end, order, ids);
    }
    if (found.length > limit) end = found[limit - 1];
    const events = found.slice(0, limit).map(storedEvent);
    return { events, next: end && { id: end.id, range }, lookedBackTo: end?.occurredAt };
  }

  /** All events of a request, by its own or its client's request id, oldest first; at most 100. */
  async ofRequest(requestId: string): Promise<readonly StoredEvent[]> {
    const place = { range: {} };
    const { events } = await this.page({ filter: { requestId }, place, order: 'oldest', limit: 100 });
    return events;
  }

  /** The end of the stream: after everything that can no longer change. */
  async present(): Promise<Position> {
    const [present] = await this.database.query<Position>(PRESENT);
    if (present === undefined) throw new Error('the database does not know its transactions');
    return present;
  }

  /**
   * The events after a position, in order. They never change: a repeated call returns the same events first.
   */
  async after(position: Position, depth: number, filter: TrailFilter = {}): Promise<TrailNews> {
    const { text, values } = STREAM_SEARCH;
    const rows = await this.database.query<SearchedRow & Pick<Position, 'transactionId'>>(
      text,
      values({ ...filter, ...position, depth }),
    );
    const placed = rows.map((row) => {
      const { id: eventId, transactionId, isFound, isEnd } = row;
      return { event: storedEvent(row), position: { transactionId, eventId }, isFound, isEnd };
    });
    return {
      events: placed.filter(({ isFound }) => isFound),
      end: placed.find(({ isEnd }) => isEnd)?.position,
    };
  }

  /**
   * Yields the events after a position that match a filter, once a second, even if there are none.
   * @param stop ends it
   */
  async *follow(
    position: Position,
    filter: TrailFilter,
    stop: AbortSignal,
  ): AsyncGenerator<readonly StoredEvent[], void> {
    while (!stop.aborted) {
      const { events, end } = await this.after(position, FOLLOW_DEPTH, filter);
      yield events.map(({ event }) => event);
      position = end ?? events.at(-1)?.position ?? position;
      if (end === undefined) await pause(FOLLOW_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
    }
  }

  async idsOf({ since, until }: TimeRange): Promise<IdRange> {
    const [first, end] = await Promise.all([
      since === undefined ? 0n : this.idAt(since.getTime() - DISORDER_MS),
      until === undefined ? LARGEST_ID + 1n : this.idAt(until.getTime() + DISORDER_MS),
    ]);
    return { first, last: end - 1n };
  }

  private async idAt(ms: number): Promise<bigint> {
    const { text, values } = ID_AT;
    const [place] = await this.database.query<{ id: string }>(text, values(new Date(ms)));
    return BigInt(place?.id ?? 0);
  }
}

export function indexFor({ requestId, subjectUserId, person }: TrailFilter): TrailIndex {
  if (requestId !== undefined) return 'request';
  if (subjectUserId !== undefined) return 'subject';
  return person === undefined ? 'id' : 'person';
}

function rangeAfter({ id }: Pick<TrailPlace, 'id'>, order: TrailOrder, { first, last }: IdRange): IdRange {
  if (id === undefined) return { first, last };
  const seen = BigInt(id);
  if (order === 'newest') return { first, last: seen <= last ? seen - 1n : last };
  return { first: seen >= first ? seen + 1n : first, last };
}

function storedEvent(row: SearchedRow): StoredEvent {
  const { id, event, occurredAt, requestId, clientRequestId, subjectUserId, actorUserId, payload } = row;
  const ofClient = clientRequestId === null ? {} : { clientRequestId };
  return { id, event, occurredAt, requestId, ...ofClient, subjectUserId, actorUserId, payload };
}
