// The position of each sink in the stream of events, and its backlog.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Position } from '../trail-statements.sql.js';
import { OLDEST_OPEN_TRANSACTION, PRESENT } from '../trail-statements.sql.js';

/** Before all events. */
export const BEGINNING: Position = { transactionId: '0', eventId: '0' };

/** The cursor of usage/active-users.job.ts, which belongs to no sink. */
export const ACTIVE_USERS_CURSOR = 'active-users';

/** How far behind a sink is. */
export interface Backlog {
  /** Events that the sink has not received; counted up to `MAX_COUNTED`. */
  readonly events: number;
  /** Age of the oldest of them, in seconds. */
  readonly seconds: number;
  /** Age of the oldest event that waits for an open transaction, in seconds. */
  readonly blockedSeconds: number;
}

const MAX_COUNTED = 100_000;

/**
 * Whether a cursor is ahead of the database's transactions, because a restore from a dump restarts their
 * numbers. The state is stored: once the numbers have caught up, all events up to the cursor would be
 * skipped.
 */
export const IS_AHEAD =
  '(ahead_since IS NOT NULL OR transaction_id >= txid_snapshot_xmax(txid_current_snapshot()))';

@Injectable()
export class SinkCursorRepository {
  constructor(private readonly database: Database) {}

  /** A sink's position, and whether it is ahead of the database. Undefined if the sink has no cursor. */
  async cursorOf(name: string): Promise<{ position: Position; isAhead: boolean } | undefined> {
    const [row] = await this.database.background.query<{
      transaction_id: string;
      event_id: string;
      is_ahead: boolean;
    }>(`SELECT transaction_id, event_id, ${IS_AHEAD} AS is_ahead FROM audit_sink_cursor WHERE name = $1`, [
      name,
    ]);
    if (row === undefined) return undefined;
    return { position: { transactionId: row.transaction_id, eventId: row.event_id }, isAhead: row.is_ahead };
  }

  /** Stores that a cursor is ahead, until an operator resets it (docs/reference/audit-streams.md). */
  async markAhead(name: string): Promise<void> {
    await this.database.background.change(
      `UPDATE audit_sink_cursor SET ahead_since = now()
       WHERE name = $1 AND ahead_since IS NULL AND ${IS_AHEAD}`,
      [name],
    );
  }

  /**
   * Creates a sink's cursor, unless it has one.
   * @param at default: after all present events, because an old trail would flood a new receiver
   */
  async begin(name: string, at?: Position): Promise<void> {
    await this.database.background.query(
      `INSERT INTO audit_sink_cursor (name, transaction_id, event_id)
       SELECT $1::text, coalesce($2::bigint, start."transactionId"), coalesce($3::bigint, start."eventId") FROM (${PRESENT}) AS start
       ON CONFLICT (name) DO NOTHING`,
      [name, at?.transactionId ?? null, at?.eventId ?? null],
    );
  }

  /**
   * Moves a cursor only from the position that the caller knows, so that a former leader cannot move it back
   * (D87).
   * @returns whether it has moved
   */
  async move(name: string, from: Position, to: Position): Promise<boolean> {
    const moved = await this.database.background.change(
      `UPDATE audit_sink_cursor SET transaction_id = $4, event_id = $5, moved_at = now()
       WHERE name = $1 AND transaction_id = $2 AND event_id = $3`,
      [name, from.transactionId, from.eventId, to.transactionId, to.eventId],
    );
    return moved === 1;
  }

  async backlogAfter({ transactionId, eventId }: Position): Promise<Backlog> {
    const follows = '(transaction_id, id) > ($1, $2)';
    const [row] = await this.database.background.query<{ events: number; seconds: number; blocked: number }>(
      `SELECT (SELECT count(*)::int FROM (SELECT FROM audit_event WHERE ${follows} LIMIT ${MAX_COUNTED}) AS waiting) AS events,
         ${ageOf(`SELECT occurred_at FROM audit_event WHERE ${follows} ORDER BY transaction_id, id LIMIT 1`)} AS seconds,
         ${ageOf(
           `SELECT occurred_at FROM audit_event WHERE transaction_id >= ${OLDEST_OPEN_TRANSACTION} ORDER BY transaction_id, id LIMIT 1`,
         )} AS blocked`,
      [transactionId, eventId],
    );
    return { events: row?.events ?? 0, seconds: row?.seconds ?? 0, blockedSeconds: row?.blocked ?? 0 };
  }

  /** All sinks with a cursor, and when it last moved. */
  async all(): Promise<{ name: string; movedAt: Date }[]> {
    return this.database.background.query(
      'SELECT name, moved_at AS "movedAt" FROM audit_sink_cursor WHERE name <> $1 ORDER BY name',
      [ACTIVE_USERS_CURSOR],
    );
  }
}

/**
 * The age of a moment in seconds, on the database's clock. Not negative, although an event's time is from an
 * instance, whose clock may be ahead.
 */
function ageOf(moment: string): string {
  return `coalesce(greatest(extract(epoch FROM now() - (${moment})), 0), 0)::float8`;
}

/** Whether `one` is later than `other` in the order of events. */
export function isAfter(one: Position, other: Position): boolean {
  const [transaction, otherTransaction] = [BigInt(one.transactionId), BigInt(other.transactionId)];
  if (transaction !== otherTransaction) return transaction > otherTransaction;
  return BigInt(one.eventId) > BigInt(other.eventId);
}

/** Counts the source's cursors that are before an event or another cursor. */
const cursorsBefore = (eventId: string) =>
  `(SELECT count(*) FROM audit_sink_cursor AS other
    WHERE (other.transaction_id, other.event_id) < (source.transaction_id, source.${eventId}))`;

/**
 * Positions in a copied database, where each sink continues after its last event (D137). Instead of its
 * transaction, an event gets the number of sinks that have not received it; 0 if all have. Events that no
 * sink has received get the transaction of the copy, whose number is always larger. A sink's cursor has the
 * sink's own number: it has received the events up to there, and continues after them.
 */
export const POSITIONS_IN_COPY = {
  audit_event: {
    transaction_id: `nullif(${cursorsBefore('id')}, (SELECT count(*) FROM audit_sink_cursor))`,
  },
  audit_sink_cursor: {
    transaction_id: cursorsBefore('event_id'),
    event_id: '9223372036854775807',
  },
} as const;
