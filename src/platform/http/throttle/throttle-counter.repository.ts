// Keeps the request counts that instances share, in `throttle_counter`.
import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { PreparedStatement } from '../../database/prepared-statement.js';
import { parameter, sql } from '../../database/sql.js';

interface Hit {
  readonly key: string;
  readonly durationMs: number;
}

interface CountRow {
  hits: number;
  remaining_ms: number;
}

/**
 * One hit. A window that has ended is begun anew by the same statement, on the database's clock, so that instances
 * agree. Where that was set back, a running window keeps its hits and ends a whole length from now, not an hour later.
 */
const COUNT_HIT = new PreparedStatement<Hit, CountRow>(
  'throttle_counter_count_hit',
  sql`INSERT INTO throttle_counter AS counter (key, hits, window_ends_at)
    VALUES (${parameter('text', ({ key }: Hit) => key)}, 1,
      statement_timestamp() + ${parameter('float8', ({ durationMs }: Hit) => durationMs)} * interval '1 millisecond')
    ON CONFLICT (key) DO UPDATE SET
      hits = CASE WHEN counter.window_ends_at > statement_timestamp() THEN counter.hits + 1 ELSE 1 END,
      window_ends_at = CASE WHEN counter.window_ends_at > statement_timestamp()
        THEN least(counter.window_ends_at, excluded.window_ends_at) ELSE excluded.window_ends_at END
    RETURNING hits, (extract(epoch FROM window_ends_at - statement_timestamp()) * 1000)::float8 AS remaining_ms`,
);

interface GivenBack extends Hit {
  readonly ageMs: number;
}

/** One hit less, in the window in which it was counted. */
const REFUND_HIT = new PreparedStatement<GivenBack, CountRow>(
  'throttle_counter_refund_hit',
  sql`UPDATE throttle_counter SET hits = hits - 1
    WHERE key = ${parameter('text', ({ key }: GivenBack) => key)} AND hits > 0 AND window_ends_at > statement_timestamp()
      AND window_ends_at - ${parameter('float8', ({ durationMs }: GivenBack) => durationMs)} * interval '1 millisecond'
        <= statement_timestamp() - ${parameter('float8', ({ ageMs }: GivenBack) => ageMs)} * interval '1 millisecond'`,
);

/** A key's count in its running window. */
interface SharedCount {
  readonly hits: number;
  /** Milliseconds until the window ends. */
  readonly remainingMs: number;
}

@Injectable()
export class ThrottleCounterRepository {
  constructor(private readonly database: Database) {}

  /** Counts one hit. @param durationMs length of the window, if this hit begins one */
  async countHit(key: string, durationMs: number): Promise<SharedCount> {
    const [row] = await COUNT_HIT.run(this.database.dataSource, { key, durationMs });
    if (row === undefined) throw new Error('an upsert answered no row');
    return { hits: row.hits, remainingMs: row.remaining_ms };
  }

  /**
   * Takes back a hit, unless its window has ended.
   * @param durationMs length of its window, in milliseconds
   * @param ageMs how long ago it was counted, at most, in milliseconds
   */
  async refundHit(key: string, durationMs: number, ageMs: number): Promise<void> {
    await REFUND_HIT.run(this.database.dataSource, { key, durationMs, ageMs });
  }

  /**
   * Deletes counters whose window has ended.
   * @param limit most counters to delete
   * @returns how many were deleted
   */
  purge(limit: number): Promise<number> {
    return this.database.change(
      `DELETE FROM throttle_counter WHERE key IN (
         SELECT key FROM throttle_counter WHERE window_ends_at < statement_timestamp()
         ORDER BY window_ends_at LIMIT $1 FOR UPDATE SKIP LOCKED
       )`,
      [limit],
    );
  }
}
