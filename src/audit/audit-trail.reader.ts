// Reads the audit trail page by page, at a cost that does not grow with its length.
import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { TimeRange, TrailFilter } from './trail-filter.js';
import type { Look, LookedRow, TrailIndex, TrailOrder } from './trail-statements.sql.js';
import { ID_AT, LOOKS } from './trail-statements.sql.js';

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

interface TrailQuery {
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

/** The ids among which events of some time lie, both included. */
export type IdRange = Pick<Look, 'first' | 'last'>;

/** How far to look. */
interface Bounds {
  readonly order: TrailOrder;
  /** So many events at most. */
  readonly limit: number;
  /** So many rows in one look, and so many in all. */
  readonly statement: number;
  readonly page: number;
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
    const ids = behind(query, await idsOf(query.range, this.database));
    const look = (some: IdRange, most: number) => {
      const wanted = { ...filter, ...query.range, ...some, depth: DEPTHS[index].statement, limit: most };
      return LOOKS[index][order].run(this.database.dataSource, wanted);
    };
    return lookAlong(look, ids, { order, limit, ...DEPTHS[index] });
  }

  /** All events of one request, or of those that their clients called so, the oldest first: as many as are asked for. */
  async ofRequest(requestId: string, limit = 100): Promise<readonly StoredEvent[]> {
    const { events } = await this.page({ filter: { requestId }, range: {}, order: 'oldest', limit });
    return events;
  }
}

/**
 * Looks on until one event more than asked for is found, nothing is left, or it has looked far enough.
 * @param look answers so many rows at most of those among some ids
 */
export async function lookAlong(
  look: (ids: IdRange, limit: number) => Promise<LookedRow[]>,
  { first, last }: IdRange,
  { order, limit, statement, page }: Bounds,
): Promise<TrailPage> {
  const found: LookedRow[] = [];
  let end: LookedRow | undefined;
  for (let looked = 0; looked < page && first <= last; looked += statement) {
    // One more shows whether there are more.
    const rows = await look({ first, last }, limit + 1 - found.length);
    found.push(...rows.filter(({ isFound }) => isFound));
    const final = rows.at(-1);
    end = final?.isEnd === true ? final : undefined;
    if (end === undefined || found.length > limit) break;
    if (order === 'newest') last = BigInt(end.id) - 1n;
    else first = BigInt(end.id) + 1n;
  }
  if (found.length > limit) end = found[limit - 1];
  const events = found.slice(0, limit).map(storedEvent);
  return { events, end: end && { id: end.id, occurredAt: end.occurredAt } };
}

export async function idsOf({ since, until }: TimeRange, database: Database): Promise<IdRange> {
  const [first, end] = await Promise.all([
    since === undefined ? 0n : idAt(new Date(since.getTime() - DISORDER_MS), database),
    until === undefined ? LARGEST_ID : idAt(new Date(until.getTime() + DISORDER_MS), database),
  ]);
  return { first, last: until === undefined ? end : end - 1n };
}

async function idAt(moment: Date, { dataSource }: Database): Promise<bigint> {
  const [place] = await ID_AT.run(dataSource, { moment });
  return BigInt(place?.id ?? 0);
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

export function storedEvent(row: LookedRow): StoredEvent {
  const { id, event, occurredAt, requestId, clientRequestId, subjectUserId, actorUserId, payload } = row;
  const ofClient = clientRequestId === null ? {} : { clientRequestId };
  return { id, event, occurredAt, requestId, ...ofClient, subjectUserId, actorUserId, payload };
}
