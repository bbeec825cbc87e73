// Deletes old events from the audit trail, window by window from its beginning.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { IS_AHEAD } from '../sinks/sink-cursor.repository.js';

/** What may be deleted. */
export interface Expiry {
  /** By the clock of this process. As far as it is ahead of the database's, less goes. */
  readonly now: Date;
  /** Events from before go once each sink has had them. */
  readonly before: Date;
  /** Events from before go in any case. */
  readonly atLatestBefore?: Date;
  /** The sinks that events are kept for, by name. */
  readonly sinks: readonly string[];
}

/** What became of one window. */
interface DeletedWindow {
  readonly deleted: number;
  /** How many of them a sink has not had. */
  readonly missed: number;
  /** The last id of the window; undefined if there was none. */
  readonly lastId: string | undefined;
}

/**
 * A window is found by the primary key, in which the oldest come first, so that no index for the time is needed. A sink without a
 * cursor has had nothing; what one has had whose cursor is ahead of the database is unknown. A clock that is set a year ahead
 * must not empty the trail.
 */
const DELETION = `WITH clocks AS (
    SELECT greatest($6::timestamptz - clock_timestamp(), interval '0') AS ahead
  ), slowest AS (
    SELECT CASE WHEN name IS NULL OR ${IS_AHEAD} THEN -1 ELSE transaction_id END AS transaction_id, coalesce(event_id, 0) AS event_id
    FROM unnest($4::text[]) AS sink LEFT JOIN audit_sink_cursor ON audit_sink_cursor.name = sink
    ORDER BY 1, 2 LIMIT 1
  ), oldest AS (
    SELECT id, occurred_at, coalesce((transaction_id, id) <= (SELECT transaction_id, event_id FROM slowest), true) AS was_had
    FROM audit_event WHERE id > $1 ORDER BY id LIMIT $2
  ), deleted AS (
    DELETE FROM audit_event USING oldest, clocks
    WHERE audit_event.id = oldest.id
      AND (oldest.was_had AND oldest.occurred_at < $3::timestamptz - ahead OR oldest.occurred_at < $5::timestamptz - ahead)
    RETURNING oldest.was_had
  )
  SELECT (SELECT max(id) FROM oldest) AS last_id, count(*)::int AS deleted,
    (count(*) FILTER (WHERE NOT was_had))::int AS missed
  FROM deleted`;

@Injectable()
export class AuditRetentionRepository {
  constructor(private readonly database: Database) {}

  /**
   * Deletes those of the next events by id that may go.
   * @param afterId the last id of the window before; `0` for the first
   * @param limit events of the window
   */
  async deleteWindow(afterId: string, limit: number, expiry: Expiry): Promise<DeletedWindow> {
    const { now, before, atLatestBefore, sinks } = expiry;
    const [row] = await this.database.query<{ last_id: string | null; deleted: number; missed: number }>(
      DELETION,
      [afterId, limit, before, sinks, atLatestBefore ?? null, now],
    );
    return { deleted: row?.deleted ?? 0, missed: row?.missed ?? 0, lastId: row?.last_id ?? undefined };
  }
}
