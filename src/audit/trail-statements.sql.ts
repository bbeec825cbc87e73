// The statements that search the audit trail by a filter: each looks at a bounded number of rows, found by an index, however long the trail is.
import { PreparedStatement } from '../platform/database/prepared-statement.js';
import type { Sql } from '../platform/database/sql.js';
import { givenRows, parameter, sql } from '../platform/database/sql.js';
import { REASONS_OF_STRANGERS } from './trail-filter.js';
import type { TimeRange, TrailFilter } from './trail-filter.js';

/** The conditions for a row. */
interface Sought extends TrailFilter, TimeRange {}

/** One look at some rows that lie together. */
export interface Look extends Sought {
  /** Smallest and largest id. */
  readonly first: bigint;
  readonly last: bigint;
  /** So many rows are looked at. */
  readonly depth: number;
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

/** A look at what came after a row that was seen. */
interface LookAfter extends Sought {
  readonly after: bigint;
  readonly depth: number;
}

export interface FollowedRow extends LookedRow {
  /** How many ids were left out between the row before and this one. */
  readonly missing: string;
  readonly isLast: boolean;
}

/** A look at rows that were missing. */
interface LookAt extends Sought {
  readonly ids: readonly bigint[];
}

const EVENT = parameter('text', ({ event }: Sought) => (event?.endsWith('*') === true ? undefined : event));
const BEGINNING = parameter('text', ({ event }: Sought) =>
  event?.endsWith('*') === true ? event.slice(0, -1) : undefined,
);
const USER = parameter('uuid', ({ userId }: Sought) => userId);
const SUBJECT = parameter('uuid', ({ subjectUserId }: Sought) => subjectUserId);
const ISSUER = parameter('text', ({ issuer }: Sought) => issuer);
const KID = parameter('text', ({ kid }: Sought) => kid);
const REASON = parameter('text', ({ reason }: Sought) => reason);
const REQUEST = parameter('text', ({ requestId }: Sought) => requestId);
const STRANGERS = parameter('text[]', ({ withoutStrangers }: Sought) =>
  withoutStrangers === true ? REASONS_OF_STRANGERS : undefined,
);
const SINCE = parameter('float8', ({ since }: Sought) => since && since.getTime() / 1000);
const UNTIL = parameter('float8', ({ until }: Sought) => until && until.getTime() / 1000);

/** One text for every choice of filters: what is not given is null. */
const IS_FOUND: Sql<Sought> = sql`((${EVENT} IS NULL OR e.name = ${EVENT})
      AND (${BEGINNING} IS NULL OR starts_with(e.name, ${BEGINNING}))
      AND (${USER} IS NULL OR e.subject_user_id = ${USER} OR e.actor_user_id = ${USER})
      AND (${SUBJECT} IS NULL OR e.subject_user_id = ${SUBJECT})
      AND (${REQUEST} IS NULL OR e.request_id = ${REQUEST} OR e.client_request_id = ${REQUEST})
      AND (${ISSUER} IS NULL OR e.payload->>'issuer' = ${ISSUER})
      AND (${KID} IS NULL OR e.payload->>'kid' = ${KID})
      AND (${REASON} IS NULL OR e.payload->>'reason' = ${REASON})
      AND (${STRANGERS} IS NULL OR (e.payload->>'reason' = ANY (${STRANGERS})
        OR e.payload->>'reason' = 'claims_invalid' AND NOT e.payload ? 'issuer') IS NOT TRUE)
      AND (${SINCE} IS NULL OR e.occurred_at >= to_timestamp(${SINCE}))
      AND (${UNTIL} IS NULL OR e.occurred_at < to_timestamp(${UNTIL}))) IS TRUE`;

const STORED = sql`e.id, e.name AS event, e.occurred_at AS "occurredAt", e.request_id AS "requestId",
      e.client_request_id AS "clientRequestId", e.subject_user_id AS "subjectUserId", e.actor_user_id AS "actorUserId", e.payload`;

const FIRST = parameter('bigint', ({ first }: Look) => first);
const LAST = parameter('bigint', ({ last }: Look) => last);
const DEPTH = parameter('bigint', ({ depth }: Pick<Look, 'depth'>) => depth);
const LIMIT = parameter('bigint', ({ limit }: Look) => limit);

/** In which order, and by which index. */
export const ORDERS = ['newest', 'oldest'] as const;
export type TrailOrder = (typeof ORDERS)[number];
export type TrailIndex = 'id' | 'subject' | 'request';

const DIRECTIONS: Readonly<Record<TrailOrder, Sql>> = { newest: sql`DESC`, oldest: sql`ASC` };

/**
 * By two columns at once, in conditions as in the order: the planner then has no other index that fits, for any number of events.
 * A request is found by its id or by its client's id for it.
 */
const ROWS: Readonly<Record<TrailIndex, (direction: Sql) => Sql<Look>>> = {
  id: (direction) => sql`SELECT * FROM audit_event WHERE id BETWEEN ${FIRST} AND ${LAST}
        ORDER BY id ${direction} LIMIT ${DEPTH}`,
  subject: (direction) => sql`SELECT * FROM audit_event
        WHERE (subject_user_id, id) >= (${SUBJECT}, ${FIRST}) AND (subject_user_id, id) <= (${SUBJECT}, ${LAST})
        ORDER BY subject_user_id ${direction}, id ${direction} LIMIT ${DEPTH}`,
  request: (direction) => sql`SELECT * FROM (
          (SELECT * FROM audit_event
            WHERE (request_id, id) >= (${REQUEST}, ${FIRST}) AND (request_id, id) <= (${REQUEST}, ${LAST})
            ORDER BY request_id ${direction}, id ${direction} LIMIT ${DEPTH})
          UNION ALL
          (SELECT * FROM audit_event WHERE client_request_id IS NOT NULL
            AND (client_request_id, id) >= (${REQUEST}, ${FIRST}) AND (client_request_id, id) <= (${REQUEST}, ${LAST})
            ORDER BY client_request_id ${direction}, id ${direction} LIMIT ${DEPTH})
        ) either ORDER BY id ${direction} LIMIT ${DEPTH}`,
};

/** Rows that are sought; and the last one that was looked at, where there may be more behind it. */
function look(index: TrailIndex, order: TrailOrder): PreparedStatement<Look, LookedRow> {
  const direction = DIRECTIONS[order];
  return new PreparedStatement(
    `audit_events_by_${index}_${order}`,
    sql`SELECT looked.* FROM (
      SELECT ${STORED}, ${IS_FOUND} AS "isFound", row_number() OVER (ORDER BY e.id ${direction}) = ${DEPTH} AS "isEnd"
      FROM (
        ${ROWS[index](direction)}
      ) e
    ) looked WHERE looked."isFound" OR looked."isEnd" ORDER BY looked.id ${direction} LIMIT ${LIMIT}`,
  );
}

export const LOOKS: Readonly<
  Record<TrailIndex, Readonly<Record<TrailOrder, PreparedStatement<Look, LookedRow>>>>
> = {
  id: { newest: look('id', 'newest'), oldest: look('id', 'oldest') },
  subject: { newest: look('subject', 'newest'), oldest: look('subject', 'oldest') },
  request: { newest: look('request', 'newest'), oldest: look('request', 'oldest') },
};

const MOMENT = parameter('float8', ({ moment }: { moment: Date }) => moment.getTime() / 1000);

/**
 * The place of a moment in the order of ids, by halving: times have no index, and lie nearly in the order of ids. Each step
 * reads one row by its key.
 */
export const ID_AT = new PreparedStatement<{ moment: Date }, { id: string }>(
  'audit_event_id_at',
  sql`WITH RECURSIVE search (low, high) AS (
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
    SELECT search.low AS id FROM search WHERE search.low >= search.high`,
);

export const NEWEST_ID = new PreparedStatement<unknown, { id: string }>(
  'audit_event_newest_id',
  sql`SELECT coalesce((SELECT e.id FROM audit_event e ORDER BY e.id DESC LIMIT 1), 0) AS id`,
);

const AFTER = parameter('bigint', ({ after }: LookAfter) => after);

/** The rows after a row: matching ones, those after missing ids, and the last. */
export const LOOK_AFTER = new PreparedStatement<LookAfter, FollowedRow>(
  'audit_events_after',
  sql`SELECT looked.* FROM (
      SELECT ${STORED}, ${IS_FOUND} AS "isFound", row_number() OVER (ORDER BY e.id) = ${DEPTH} AS "isEnd",
        e.id - lag(e.id, 1, ${AFTER}) OVER (ORDER BY e.id) - 1 AS missing,
        lead(e.id) OVER (ORDER BY e.id) IS NULL AS "isLast"
      FROM (
        SELECT * FROM audit_event WHERE id > ${AFTER} ORDER BY id LIMIT ${DEPTH}
      ) e
    ) looked WHERE looked."isFound" OR looked.missing > 0 OR looked."isLast" ORDER BY looked.id`,
);

/** Rows by their ids, sought or not. */
export const LOOK_AT = new PreparedStatement<LookAt, LookedRow>(
  'audit_events_at',
  sql`SELECT ${STORED}, ${IS_FOUND} AS "isFound", false AS "isEnd"
    FROM ${givenRows('given', ({ ids }: LookAt) => ids, { id: ['bigint', (id) => id] })} CROSS JOIN LATERAL (
      SELECT * FROM audit_event WHERE audit_event.id = given.id LIMIT 1
    ) e ORDER BY e.id`,
);
