// The statements that search the audit trail by a filter: each looks at a bounded number of rows, found by an index, however long the trail is.
import type { Sql } from '../platform/database/sql.js';
import { parameter, sql, writtenSql } from '../platform/database/sql.js';
import { READING_EVENT } from './instance-events.js';
import { REASONS_OF_STRANGERS } from './trail-filter.js';
import type { TimeRange, TrailFilter } from './trail-filter.js';

/** The conditions for a row. */
export interface Sought extends TrailFilter, TimeRange {
  /** The id of a transaction: no events of later ones. */
  readonly upToTransaction?: string;
}

/** The ids among which events of some time lie, both included. */
export interface IdRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** One look at some rows that lie together. */
export interface Look extends Sought, IdRange {
  /** So many rows are looked at. */
  readonly depth: number;
}

interface LookForSome extends Look {
  /** So many are answered. */
  readonly limit: number;
}

/** A row that was looked at. */
export interface LookedRow {
  readonly id: string;
  readonly event: string;
  readonly occurredAt: Date;
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly subjectUserId: string | null;
  readonly actorUserId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Whether it is one of those sought. */
  readonly isFound: boolean;
  /** Whether the look ended here for its depth: there may be more behind it. */
  readonly isEnd: boolean;
}

/** A place in the order of events: behind this one, and before all that follow. Numbers of 64 bits, as text. */
export interface Position {
  /** `0`: among the events from before a restore, which has set that (docs/reference/audit-streams.md). For a copy see `POSITIONS_IN_COPY` of sinks/sink-cursor.repository.ts. */
  readonly transactionId: string;
  readonly eventId: string;
}

interface LookAfter extends Sought, Position {
  readonly depth: number;
}

/** For `LIKE`: no name has its other signs. */
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

/** Of the row `e`. */
export const IS_IN_TIME: Sql<TimeRange> = sql`(${SINCE} IS NULL OR e.occurred_at >= to_timestamp(${SINCE}))
      AND (${UNTIL} IS NULL OR e.occurred_at < to_timestamp(${UNTIL}))`;

/** Of the row `e`. One text for every choice of filters: what is not given is null. */
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
const DEPTH = parameter('bigint', ({ depth }: Pick<Look, 'depth'>) => depth);

export const ORDERS = ['newest', 'oldest'] as const;
export type TrailOrder = (typeof ORDERS)[number];
export type TrailIndex = 'id' | 'subject' | 'person' | 'request';

const DIRECTIONS: Readonly<Record<TrailOrder, Sql>> = { newest: sql`DESC`, oldest: sql`ASC` };

const ofSubject = (user: Sql<Look>, direction: Sql): Sql<Look> => sql<Look>`SELECT * FROM audit_event
        WHERE (subject_user_id, id) >= (${user}, ${FIRST}) AND (subject_user_id, id) <= (${user}, ${LAST})
        ORDER BY subject_user_id ${direction}, id ${direction} LIMIT ${DEPTH}`;

/**
 * By two columns at once, in conditions as in the order: the planner then has no other index that fits, for any number of events.
 * A request is found by its id or by its client's id for it, a person by the user's id or by what a refused token said.
 */
const ROWS: Readonly<Record<TrailIndex, (direction: Sql) => Sql<Look>>> = {
  id: (direction) => sql<Look>`SELECT * FROM audit_event WHERE id BETWEEN ${FIRST} AND ${LAST}
        ORDER BY id ${direction} LIMIT ${DEPTH}`,
  subject: (direction) => ofSubject(SUBJECT, direction),
  person: (direction) => sql<Look>`SELECT * FROM (
          (${ofSubject(PERSON, direction)})
          UNION
          (SELECT * FROM audit_event WHERE person_hashes && ${HASHES} AND id BETWEEN ${FIRST} AND ${LAST}
            ORDER BY id ${direction} LIMIT ${DEPTH})
        ) either ORDER BY id ${direction} LIMIT ${DEPTH}`,
  request: (direction) => sql<Look>`SELECT * FROM (
          (SELECT * FROM audit_event
            WHERE (request_id, id) >= (${REQUEST}, ${FIRST}) AND (request_id, id) <= (${REQUEST}, ${LAST})
            ORDER BY request_id ${direction}, id ${direction} LIMIT ${DEPTH})
          UNION ALL
          (SELECT * FROM audit_event WHERE client_request_id IS NOT NULL
            AND (client_request_id, id) >= (${REQUEST}, ${FIRST}) AND (client_request_id, id) <= (${REQUEST}, ${LAST})
            ORDER BY client_request_id ${direction}, id ${direction} LIMIT ${DEPTH})
        ) either ORDER BY id ${direction} LIMIT ${DEPTH}`,
};

/** So many rows as the depth says, found by an index. */
export function rowsBy(index: TrailIndex, order: TrailOrder): Sql<Look> {
  return ROWS[index](DIRECTIONS[order]);
}

/** Rows that are sought; and the last one that was looked at, where there may be more behind it. */
function look(index: TrailIndex, order: TrailOrder) {
  const limit = parameter('bigint', ({ limit: most }: LookForSome) => most);
  return writtenSql(sql<LookForSome>`SELECT looked.* FROM (
      SELECT ${STORED}, ${IS_FOUND} AS "isFound", row_number() OVER (ORDER BY e.id ${DIRECTIONS[order]}) = ${DEPTH} AS "isEnd"
      FROM (
        ${rowsBy(index, order)}
      ) e
    ) looked WHERE looked."isFound" OR looked."isEnd" ORDER BY looked.id ${DIRECTIONS[order]} LIMIT ${limit}`);
}

const inBothOrders = (index: TrailIndex) => ({
  newest: look(index, 'newest'),
  oldest: look(index, 'oldest'),
});

export const LOOKS = {
  id: inBothOrders('id'),
  subject: inBothOrders('subject'),
  person: inBothOrders('person'),
  request: inBothOrders('request'),
};

/**
 * Everything below it has ended, and what it wrote is to be seen: of the rows below none can appear any more. A sequence says
 * nothing of the kind, since who has drawn a number may commit after who drew a later one.
 */
const OLDEST_OPEN = sql`txid_snapshot_xmin(txid_current_snapshot())`;
export const OLDEST_OPEN_TRANSACTION = writtenSql(OLDEST_OPEN).text;

/** Behind all that can change no more. */
export const PRESENT = `SELECT ${OLDEST_OPEN_TRANSACTION} - 1 AS "transactionId", 9223372036854775807 AS "eventId"`;

const TRANSACTION = parameter('bigint', ({ transactionId }: Position) => transactionId);
const EVENT = parameter('bigint', ({ eventId }: Position) => eventId);

/** @rule D87 By transaction, then by id; nothing of a transaction that is open, or younger than one that is. */
export const LOOK_AFTER = writtenSql(sql<LookAfter>`SELECT looked.* FROM (
      SELECT ${STORED}, e.transaction_id AS "transactionId", ${IS_FOUND} AS "isFound",
        row_number() OVER (ORDER BY e.transaction_id, e.id) = ${DEPTH} AS "isEnd"
      FROM (
        SELECT * FROM audit_event
        WHERE (transaction_id, id) > (${TRANSACTION}, ${EVENT}) AND transaction_id < ${OLDEST_OPEN}
        ORDER BY transaction_id, id LIMIT ${DEPTH}
      ) e
    ) looked WHERE looked."isFound" OR looked."isEnd" ORDER BY looked."transactionId", looked.id`);

const MOMENT = parameter('float8', (moment: Date) => moment.getTime() / 1000);

/**
 * The place of a moment in the order of ids, by halving: times have no index, and lie nearly in the order of ids. Each step
 * reads one row by its key.
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
