// Counts events of the audit trail, at a cost that does not grow with its length.
import { Inject, Injectable } from '@nestjs/common';
import type { StatementPool } from '../platform/database/database.js';
import { OPERATOR_DATABASE } from '../platform/database/database.js';
import { parameter, sql, writtenSql } from '../platform/database/sql.js';
import { AuditTrailReader, indexFor, MAX_SEARCHED, SEARCH_DEPTH } from './audit-trail.reader.js';
import { OUTCOME_EVENTS, SIGN_IN_EVENTS } from './instance-events.js';
import type { TimeRange, TrailFilter } from './trail-filter.js';
import type { IdRange, Search, TrailIndex } from './trail-statements.sql.js';
import { IS_FOUND, IS_IN_TIME, rowsBy, SINCE } from './trail-statements.sql.js';

/** A time range with a beginning. */
export interface BegunRange extends TimeRange {
  readonly since: Date;
}

/** The equal parts of a range. The last part includes what comes after it. */
export interface RangeParts {
  readonly seconds: number;
  readonly number: number;
}

/** Events with the same name, reason, issuer and key. */
export interface EventGroup {
  readonly event: string;
  readonly reason: string | null;
  readonly issuer: string | null;
  readonly kid: string | null;
  readonly count: number;
  readonly oldestAt: Date;
  readonly newestAt: Date;
}

interface EventGroups extends Counted {
  /** The group with the newest event comes first. */
  readonly groups: readonly EventGroup[];
}

/** Events that were counted together. */
export interface EventCount {
  /** An event with an outcome; null for all others. */
  readonly name: string | null;
  /** The part of the range, from 0; null outside of it. */
  readonly bucket: number | null;
  readonly issuer: string | null;
  readonly reason: string | null;
  readonly count: number;
  /** The oldest event's id. */
  readonly oldestId: string;
  readonly oldestAt: Date;
}

export interface EventCounts extends Counted {
  readonly counts: readonly EventCount[];
}

/** How far a count has come. */
export interface Counted {
  readonly readEvents: number;
  /** The beginning of the counted time; undefined if the whole range was counted. */
  readonly countedSince: Date | undefined;
}

interface Counting extends BegunRange, IdRange, RangeParts {
  readonly depth: number;
}

const OUTCOMES = parameter('text[]', () => OUTCOME_EVENTS);
const SECONDS = parameter('float8', ({ seconds }: RangeParts) => seconds);
const NUMBER = parameter('integer', ({ number }: RangeParts) => number);

const COUNT =
  writtenSql(sql<Counting>`SELECT name, bucket, issuer, reason, count(*)::int AS count, min(id)::text AS "oldestId",
    min(occurred_at) AS "oldestAt"
  FROM (
    SELECT e.id, e.occurred_at,
      CASE WHEN e.name = ANY (${OUTCOMES}) THEN e.name END AS name,
      CASE WHEN ${IS_IN_TIME}
        THEN least(floor(extract(epoch FROM e.occurred_at - to_timestamp(${SINCE})) / ${SECONDS}), ${NUMBER} - 1)::int END AS bucket,
      CASE WHEN e.name = ANY (${OUTCOMES}) THEN e.payload->>'issuer' END AS issuer,
      CASE WHEN e.name = ANY (${OUTCOMES}) THEN e.payload->>'reason' END AS reason
    FROM (${rowsBy('id', 'newest')}) e
  ) searched GROUP BY name, bucket, issuer, reason`);

/** Events that do not match are counted together, with nulls. */
const group = (index: TrailIndex) =>
  writtenSql(sql<Search>`SELECT event, reason, issuer, kid, count(*)::int AS count, min(id)::text AS "oldestId",
    min(occurred_at) AS "oldestAt", max(occurred_at) AS "newestAt"
  FROM (
    SELECT e.id, e.occurred_at, CASE WHEN sought.is THEN e.name END AS event,
      CASE WHEN sought.is THEN e.payload->>'reason' END AS reason,
      CASE WHEN sought.is THEN e.payload->>'issuer' END AS issuer,
      CASE WHEN sought.is THEN e.payload->>'kid' END AS kid
    FROM (${rowsBy(index, 'newest')}) e CROSS JOIN LATERAL (SELECT ${IS_FOUND} AS is) sought
  ) searched GROUP BY event, reason, issuer, kid`);

const GROUPS = {
  id: group('id'),
  subject: group('subject'),
  person: group('person'),
  request: group('request'),
};

/** How many of a user's latest events are searched for sign-ins. */
const DEPTH_IN_LIST = 100;

type GroupRow = Omit<EventGroup, 'event'> & Pick<EventCount, 'oldestId'> & { readonly event: string | null };

/**
 * The operator page's queries search at most 50,000 events, the newest of the requested time. The response
 * says how far the search has come.
 */
@Injectable()
export class TrailSummaryReader {
  private readonly trail: AuditTrailReader;

  constructor(@Inject(OPERATOR_DATABASE) private readonly database: StatementPool) {
    this.trail = new AuditTrailReader(database);
  }

  async count(range: BegunRange, parts: RangeParts): Promise<EventCounts> {
    const search = (ids: IdRange) =>
      this.database.query<EventCount>(
        COUNT.text,
        COUNT.values({ ...range, ...ids, ...parts, depth: SEARCH_DEPTH }),
      );
    const { rows, ...counted } = await this.gather(range, search);
    return { counts: rows.filter(({ name, bucket }) => name !== null && bucket !== null), ...counted };
  }

  /** When some users last signed in, within their last hundred events; ISO 8601. */
  async lastSignIns(userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.query<{ id: string; at: string }>(
      `SELECT asked.id::text AS id, to_char(found.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at FROM unnest($1::uuid[]) AS asked (id) CROSS JOIN LATERAL (
         SELECT occurred_at FROM (
           SELECT * FROM audit_event WHERE subject_user_id = asked.id ORDER BY id DESC LIMIT ${DEPTH_IN_LIST}
         ) last WHERE name = ANY ($2) ORDER BY id DESC LIMIT 1
       ) found`,
      [userIds, SIGN_IN_EVENTS],
    );
    return new Map(rows.map(({ id, at }) => [id, at]));
  }

  async groups(filter: TrailFilter, range: TimeRange): Promise<EventGroups> {
    const { text, values } = GROUPS[indexFor(filter)];
    const search = (ids: IdRange) =>
      this.database.query<GroupRow>(text, values({ ...filter, ...range, ...ids, depth: SEARCH_DEPTH }));
    const { rows, ...counted } = await this.gather(range, search);
    const groups = new Map<string, EventGroup>();
    for (const { oldestId: _, ...row } of rows) {
      if (row.event === null) continue;
      const key = JSON.stringify([row.event, row.reason, row.issuer, row.kid]);
      const known = groups.get(key);
      // Rows come newest first, so a known group is newer.
      const { count = 0, newestAt = row.newestAt } = known ?? {};
      groups.set(key, { ...row, event: row.event, count: count + row.count, newestAt });
    }
    const newestFirst = [...groups.values()].sort((a, b) => b.newestAt.getTime() - a.newestAt.getTime());
    return { groups: newestFirst, ...counted };
  }

  /** Counts rows from the newest on, search by search, up to the limit of one response. */
  private async gather<Row extends Pick<EventCount, 'count' | 'oldestId' | 'oldestAt'>>(
    range: TimeRange,
    search: (ids: IdRange) => Promise<Row[]>,
  ): Promise<Counted & { readonly rows: readonly Row[] }> {
    let ids = await this.trail.idsOf(range);
    const rows: Row[] = [];
    let readEvents = 0;
    while (readEvents < MAX_SEARCHED) {
      const searched = await search(ids);
      const read = searched.reduce((sum, { count }) => sum + count, 0);
      rows.push(...searched);
      readEvents += read;
      if (read < SEARCH_DEPTH) return { rows, readEvents, countedSince: undefined };
      const oldest = searched.map(({ oldestId }) => BigInt(oldestId)).reduce((a, b) => (a < b ? a : b));
      ids = { ...ids, last: oldest - 1n };
    }
    const countedSince = new Date(Math.min(...rows.map(({ oldestAt }) => oldestAt.getTime())));
    return { rows, readEvents, countedSince };
  }
}
