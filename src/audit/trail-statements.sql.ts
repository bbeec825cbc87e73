// The statements that search the audit trail by a filter. Each searches a limited number of rows, found by an
// index, however long the trail is.
import type { Sql } from '../platform/database/sql.js';
import { parameter, sql, writtenSql } from '../platform/database/sql.js';
import { READING_EVENT } from './instance-events.js';
import type { TimeRange, TrailFilter } from './trail-filter.js';
import { REASONS_OF_STRANGERS } from './trail-filter.js';

/** The conditions for a row. */
export interface Sought extends TrailFilter, TimeRange {
  /** A transaction id: events of later transactions are left out. */
  readonly upToTransaction?: string;
}

/** The range of ids to search, inclusive. */
export interface IdRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** The input of one search of adjacent rows. */
export interface Search extends Sought, IdRange {
  /** How many rows to search. */
  readonly depth: number;
}

interface LimitedSearch extends Search {
  /** How many rows to return. */
  readonly limit: number;
}

/** A searched row. */
export interface SearchedRow {
  readonly id: string;
  readonly event: string;
  readonly occurredAt: Date;
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly subjectUserId: string | null;
  readonly actorUserId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Whether the row matches. */
  readonly isFound: boolean;
  /** Whether the search ended here because of its depth: there may be more rows. */
  readonly isEnd: boolean;
}

/** A position in the order of events, after the event with these numbers (64 bits, as strings). */
export interface Position {
  /**
   * The restore of a dump sets it to `0` for all earlier events (docs/reference/audit-streams.md). See
   * `POSITIONS_IN_COPY` in sinks/sink-cursor.repository.ts for a copy.
   */
  readonly transactionId: string;
  readonly eventId: string;
}

interface StreamSearch extends Sought, Position {
  readonly depth: number;
}

/** Patterns for `LIKE`. Event names contain no other special characters. */
const PATTERNS = parameter(
  'text[]',
  ({ event }: Sought) => event && [event].flat().map((name) => name.replace(/\*$/, '%')),
);
const USER = parameter('uuid', ({ userId }: Sought) => userId);
const SUBJECT = parameter('uuid', ({ subjectUserId }: Sought) => subjectUserId);
const PERSON = parameter('uuid', ({ person }: Sought) => person?.userId);
const HASHES = parameter('bytea[]', ({ person }: Sought) => person?.hashes);
const ISSUER = parameter('text', ({ issuer }: Sought) => issuer);
const KID = parameter('text', ({ kid }: Sought) => kid);
const REASON = parameter('text', ({ reason }: Sought) => reason);
const REQUEST = parameter('text', ({ requestId }: Sought) => requestId);
const STRANGERS = parameter('text[]', ({ withoutStrangers }: Sought) =>
  withoutStrangers === true ? REASONS_OF_STRANGERS : undefined,
);
const READING = parameter('text', ({ withoutReadings }: Sought) =>
  withoutReadings === true ? READING_EVENT : undefined,
);
export const SINCE = parameter('float8', ({ since }: TimeRange) => since && since.getTime() / 1000);
const UNTIL = parameter('float8', ({ until }: TimeRange) => until && until.getTime() / 1000);
const UP_TO = parameter('bigint', ({ upToTransaction }: Sought) => upToTransaction);

/** Whether the row `e` is in the time range. */
export const IS_IN_TIME: Sql<TimeRange> = sql`(${SINCE} IS NULL OR e.occurred_at >= to_timestamp(${SINCE}))
      AND (${UNTIL} IS NULL OR e.occurred_at < to_timestamp(${UNTIL}))`;

/** Whether the row `e` matches. The text is the same for every combination of filters, because missing filters are null. */
export const IS_FOUND: Sql<Sought> = sql`((${PATTERNS} IS NULL OR e.name LIKE ANY (${PATTERNS}))
      AND (${USER} IS NULL OR e.subject_user_id = ${USER} OR e.actor_user_id = ${USER})
      AND (${SUBJECT} IS NULL OR e.subject_user_id = ${SUBJECT})
      AND (${HASHES} IS NULL OR e.subject_user_id = ${PERSON} OR e.person_hashes && ${HASHES})
      AND (${REQUEST} IS NULL OR e.request_id = ${REQUEST} OR e.client_request_id = ${REQUEST})
      AND (${ISSUER} IS NULL OR e.payload->>'issuer' = ${ISSUER})
      AND (${KID} IS NULL OR e.payload->>'kid' = ${KID})
      AND (${REASON} IS NULL OR e.payload->>'reason' = ${REASON})
      AND (${STRANGERS} IS NULL OR (e.payload->>'reason' = ANY (${STRANGERS})
        OR e.payload->>'reason' = 'claims_invalid' AND NOT e.payload ? 'issuer') IS NOT TRUE)
      AND (${READING} IS NULL OR e.name <> ${READING})
      AND ${IS_IN_TIME}
      AND (${UP_TO} IS NULL OR e.transaction_id <= ${UP_TO})) IS TRUE`;

const STORED = sql`e.id, e.name AS event, e.occurred_at AS "occurredAt", e.request_id AS "requestId",
      e.client_request_id AS "clientRequestId", e.subject_user_id AS "subjectUserId", e.actor_user_id AS "actorUserId", e.payload`;

const FIRST = parameter('bigint', ({ first }: IdRange) => first);
const LAST = parameter('bigint', ({ last }: IdRange) => last);
const DEPTH = parameter('bigint', ({ depth }: Pick<Search, 'depth'>) => depth);

export const ORDERS = ['newest', 'oldest'] as const;
export type TrailOrder = (typeof ORDERS)[number];
export type TrailIndex = 'id' | 'subject' | 'person' | 'request';

const DIRECTIONS: Readonly<Record<TrailOrder, Sql>> = { newest: sql`DESC`, oldest: sql`ASC` };

const ofSubject = (user: Sql<Search>, direction: Sql): Sql<Search> => sql<Search>`SELECT * FROM audit_event
        WHERE (subject_user_id, id) >= (${user}, ${FIRST}) AND (subject_user_id, id) <= (${user}, ${LAST})
        ORDER BY subject_user_id ${direction}, id ${direction} LIMIT ${DEPTH}`;

/**
 * Each condition and order uses two columns, so that the planner has only one suitable index for any number
 * of events. A request is found by its id or its client's id, a person by the user's id or the content of a
 * refused token.
 */
const ROWS: Readonly<Record<TrailIndex, (direction: Sql) => Sql<Search>>> = {
  id: (direction) => sql<Search>`SELECT * FROM audit_event WHERE id BETWEEN ${FIRST} AND ${LAST}
        ORDER BY id ${direction} LIMIT ${DEPTH}`,
  subject: (direction) => ofSubject(SUBJECT, direction),
  person: (direction) => sql<Search>`SELECT * FROM (
          (${ofSubject(PERSON, direction)})
          UNION
          (SELECT * FROM audit_event WHERE person_hashes && ${HASHES} AND id BETWEEN ${FIRST} AND ${LAST}
            ORDER BY id ${direction} LIMIT ${DEPTH})
        ) either ORDER BY id ${direction} LIMIT ${DEPTH}`,
  request: (direction) => sql<Search>`SELECT * FROM (
          (SELECT * FROM audit_event
            WHERE (request_id, id) >= (${REQUEST}, ${FIRST}) AND (request_id, id) <= (${REQUEST}, ${LAST})
            ORDER BY request_id ${direction}, id ${direction} LIMIT ${DEPTH})
          UNION ALL
          (SELECT * FROM audit_event WHERE client_request_id IS NOT NULL
            AND (client_request_id, id) >= (${REQUEST}, ${FIRST}) AND (client_request_id, id) <= (${REQUEST}, ${LAST})
            ORDER BY client_request_id ${direction}, id ${direction} LIMIT ${DEPTH})
        ) either ORDER BY id ${direction} LIMIT ${DEPTH}`,
};

/** Reads at most `depth` rows by an index. */
export function rowsBy(index: TrailIndex, order: TrailOrder): Sql<Search> {
  return ROWS[index](DIRECTIONS[order]);
}

/** The matching rows, and the last searched row if there may be more after it. */
function search(index: TrailIndex, order: TrailOrder) {
  const limit = parameter('bigint', ({ limit: most }: LimitedSearch) => most);
  return writtenSql(sql<LimitedSearch>`SELECT searched.* FROM (
      SELECT ${STORED}, ${IS_FOUND} AS "isFound", row_number() OVER (ORDER BY e.id ${DIRECTIONS[order]}) = ${DEPTH} AS "isEnd"
      FROM (
        ${rowsBy(index, order)}
      ) e
    ) searched WHERE searched."isFound" OR searched."isEnd" ORDER BY searched.id ${DIRECTIONS[order]} LIMIT ${limit}`);
}

const inBothOrders = (index: TrailIndex) => ({
  newest: search(index, 'newest'),
  oldest: search(index, 'oldest'),
});

export const SEARCHES = {
  id: inBothOrders('id'),
  subject: inBothOrders('subject'),
  person: inBothOrders('person'),
  request: inBothOrders('request'),
};

/**
 * The oldest transaction that is still open. All earlier ones have ended and their rows are visible, so no row with
 * an earlier transaction can appear. A sequence cannot guarantee this, because transactions may commit in another
 * order than they get numbers.
 */
const OLDEST_OPEN = sql`txid_snapshot_xmin(txid_current_snapshot())`;
export const OLDEST_OPEN_TRANSACTION = writtenSql(OLDEST_OPEN).text;

/** Selects the position after everything that can no longer change. */
export const PRESENT = `SELECT ${OLDEST_OPEN_TRANSACTION} - 1 AS "transactionId", 9223372036854775807 AS "eventId"`;

const TRANSACTION = parameter('bigint', ({ transactionId }: Position) => transactionId);
const EVENT = parameter('bigint', ({ eventId }: Position) => eventId);

/** @rule D87 The stream is ordered by transaction, then by id. It ends before the oldest open transaction. */
export const STREAM_SEARCH = writtenSql(sql<StreamSearch>`SELECT searched.* FROM (
      SELECT ${STORED}, e.transaction_id AS "transactionId", ${IS_FOUND} AS "isFound",
        row_number() OVER (ORDER BY e.transaction_id, e.id) = ${DEPTH} AS "isEnd"
      FROM (
        SELECT * FROM audit_event
        WHERE (transaction_id, id) > (${TRANSACTION}, ${EVENT}) AND transaction_id < ${OLDEST_OPEN}
        ORDER BY transaction_id, id LIMIT ${DEPTH}
      ) e
    ) searched WHERE searched."isFound" OR searched."isEnd" ORDER BY searched."transactionId", searched.id`);

const MOMENT = parameter('float8', (moment: Date) => moment.getTime() / 1000);

/**
 * Finds the position of a moment in the order of ids by binary search: times have no index, and are nearly in
 * the order of ids. Each step reads one row by its key.
 */
export const ID_AT = writtenSql(sql<Date>`WITH RECURSIVE search (low, high) AS (
      SELECT 0::bigint, coalesce((SELECT e.id FROM audit_event e ORDER BY e.id DESC LIMIT 1), 0) + 1
      UNION ALL
      SELECT CASE WHEN middle.is_before THEN middle.id + 1 ELSE search.low END,
        CASE WHEN middle.is_before THEN search.high ELSE search.low + (search.high - search.low) / 2 END
      FROM search LEFT JOIN LATERAL (
        SELECT e.id, e.occurred_at < to_timestamp(${MOMENT}) AS is_before FROM audit_event e
        WHERE e.id >= search.low + (search.high - search.low) / 2 ORDER BY e.id LIMIT 1
      ) middle ON true
      WHERE search.low < search.high
    )
    SELECT search.low AS id FROM search WHERE search.low >= search.high`);
