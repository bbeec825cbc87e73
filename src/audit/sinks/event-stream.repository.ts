// The audit trail as a stream: what follows a position, where each sink is, and how much waits for it.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { StreamedEvent } from './audit-sink.js';

/** A place in the order of events: behind this one, and before all that follow. Numbers of 64 bits, as text. */
export interface Position {
  /** `0`: among the events from before a restore, which has set that (docs/audit-streaming.md). For a copy see positions-in-copy.ts. */
  readonly transactionId: string;
  readonly eventId: string;
}

/** Before all events. */
export const BEGINNING: Position = { transactionId: '0', eventId: '0' };

/** How far behind a sink is. */
export interface Backlog {
  /** Events that it has not had; counted up to `MOST_COUNTED`. */
  readonly events: number;
  /** Age of the oldest of them, in seconds. */
  readonly seconds: number;
  /** Age of the oldest event that is held back because an older transaction is still open, in seconds. */
  readonly blockedSeconds: number;
}

const MOST_COUNTED = 100_000;

/**
 * Everything below it has ended, and what it wrote is to be seen: of the rows below none can appear any more. A sequence says
 * nothing of the kind, since who has drawn a number may commit after who drew a later one.
 */
const OLDEST_OPEN_TRANSACTION = 'txid_snapshot_xmin(txid_current_snapshot())';

/**
 * Whether a cursor is ahead of the database's transactions, since a restore from a dump counts them anew. Once seen, it stays:
 * when the count has caught up, all events until then would be skipped.
 */
export const IS_AHEAD =
  '(ahead_since IS NOT NULL OR transaction_id >= txid_snapshot_xmax(txid_current_snapshot()))';

/** No answer bears the name of a column that is sorted by: the order would be that of the answers, which are texts. */
const COLUMNS = `id, transaction_id::text AS transaction, name, request_id, client_request_id, subject_user_id, actor_user_id,
  (extract(epoch FROM occurred_at) * 1000)::float8 AS occurred_at_ms, payload::text AS payload`;

/** @rule D87 By transaction, then by id; nothing of a transaction that is open, or younger than one that is. */
const EVENTS = `SELECT ${COLUMNS} FROM audit_event
  WHERE (transaction_id, id) > ($1, $2) AND transaction_id < ${OLDEST_OPEN_TRANSACTION}
  ORDER BY transaction_id, id LIMIT $3`;

interface EventRow {
  readonly id: string;
  readonly transaction: string;
  readonly name: string;
  readonly request_id: string;
  readonly client_request_id: string | null;
  readonly subject_user_id: string | null;
  readonly actor_user_id: string | null;
  readonly occurred_at_ms: number;
  readonly payload: string;
}

@Injectable()
export class EventStreamRepository {
  constructor(private readonly database: Database) {}

  /** The events that follow a position, in order. They never change: asked again, the answer begins with the same ones. */
  async after({ transactionId, eventId }: Position, limit: number): Promise<StreamedEvent[]> {
    const rows = await this.database.query<EventRow>(EVENTS, [transactionId, eventId, limit]);
    return rows.map(toEvent);
  }

  /** Where a sink is, and whether that is ahead of the database. Undefined for a sink that has no cursor. */
  async cursorOf(name: string): Promise<{ position: Position; isAhead: boolean } | undefined> {
    const [row] = await this.database.query<{ transaction_id: string; event_id: string; is_ahead: boolean }>(
      `SELECT transaction_id, event_id, ${IS_AHEAD} AS is_ahead FROM audit_sink_cursor WHERE name = $1`,
      [name],
    );
    if (row === undefined) return undefined;
    return { position: { transactionId: row.transaction_id, eventId: row.event_id }, isAhead: row.is_ahead };
  }

  /** Writes down that a cursor is ahead, until an operator resets it (docs/audit-streaming.md). */
  async noteAhead(name: string): Promise<void> {
    await this.database.change(
      `UPDATE audit_sink_cursor SET ahead_since = now()
       WHERE name = $1 AND ahead_since IS NULL AND ${IS_AHEAD}`,
      [name],
    );
  }

  /** Gives a sink its cursor, unless it has one. */
  async begin(name: string, startAt: 'now' | 'beginning'): Promise<void> {
    const now = `${OLDEST_OPEN_TRANSACTION} - 1, 9223372036854775807`;
    await this.database.query(
      `INSERT INTO audit_sink_cursor (name, transaction_id, event_id) SELECT $1::text, ${startAt === 'now' ? now : '0, 0'}
       ON CONFLICT (name) DO NOTHING`,
      [name],
    );
  }

  /**
   * Moves a cursor, if it is still where the caller believes it to be.
   * @rule D88 A cursor moves from its previous value only: who no longer leads moves none back.
   * @returns whether it was
   */
  async move(name: string, from: Position, to: Position): Promise<boolean> {
    const moved = await this.database.change(
      `UPDATE audit_sink_cursor SET transaction_id = $4, event_id = $5, moved_at = now()
       WHERE name = $1 AND transaction_id = $2 AND event_id = $3`,
      [name, from.transactionId, from.eventId, to.transactionId, to.eventId],
    );
    return moved === 1;
  }

  async backlogAfter({ transactionId, eventId }: Position): Promise<Backlog> {
    const follows = '(transaction_id, id) > ($1, $2)';
    const [row] = await this.database.query<{ events: number; seconds: number; blocked: number }>(
      `SELECT (SELECT count(*)::int FROM (SELECT FROM audit_event WHERE ${follows} LIMIT ${MOST_COUNTED}) AS waiting) AS events,
         ${ageOf(`SELECT occurred_at FROM audit_event WHERE ${follows} ORDER BY transaction_id, id LIMIT 1`)} AS seconds,
         ${ageOf(
           `SELECT occurred_at FROM audit_event WHERE transaction_id >= ${OLDEST_OPEN_TRANSACTION} ORDER BY transaction_id, id LIMIT 1`,
         )} AS blocked`,
      [transactionId, eventId],
    );
    return { events: row?.events ?? 0, seconds: row?.seconds ?? 0, blockedSeconds: row?.blocked ?? 0 };
  }

  /** The sinks that have a cursor, with the moment at which each moved it last. */
  async cursors(): Promise<{ name: string; movedAt: Date }[]> {
    return this.database.query('SELECT name, moved_at AS "movedAt" FROM audit_sink_cursor ORDER BY name');
  }
}

/** In seconds, on the database's clock; events bear the time of an instance's, which may be ahead. */
function ageOf(moment: string): string {
  return `coalesce(greatest(extract(epoch FROM now() - (${moment})), 0), 0)::float8`;
}

function toEvent(row: EventRow): StreamedEvent {
  const occurredAt = new Date(row.occurred_at_ms).toISOString();
  const ofClient =
    row.client_request_id === null ? '' : `"clientRequestId":${JSON.stringify(row.client_request_id)},`;
  const json =
    `{"id":"${row.id}","event":${JSON.stringify(row.name)},"occurredAt":"${occurredAt}",` +
    `"requestId":${JSON.stringify(row.request_id)},${ofClient}"subjectUserId":${JSON.stringify(row.subject_user_id)},` +
    `"actorUserId":${JSON.stringify(row.actor_user_id)},"payload":${row.payload}}`;
  return { id: row.id, transactionId: row.transaction, name: row.name, occurredAt, json };
}

/** Whether one position comes later in the order of events than the other. */
export function isBehind(one: Position, other: Position): boolean {
  const [transaction, otherTransaction] = [BigInt(one.transactionId), BigInt(other.transactionId)];
  if (transaction !== otherTransaction) return transaction > otherTransaction;
  return BigInt(one.eventId) > BigInt(other.eventId);
}

/** Where a sink is that has had an event. */
export function positionOf({ transactionId, id }: StreamedEvent): Position {
  return { transactionId, eventId: id };
}
