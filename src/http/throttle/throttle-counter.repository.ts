// Keeps the request counts that instances share, in `throttle_counter`.
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { PreparedStatement } from '../../token-exchange/database/prepared-statement.js';
import { parameter, sql } from '../../token-exchange/database/sql.js';

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
 * agree.
 */
const COUNT_HIT = new PreparedStatement<Hit, CountRow>(
  'throttle_counter_count_hit',
  sql`INSERT INTO throttle_counter AS counter (key, hits, window_ends_at)
    VALUES (${parameter('text', ({ key }: Hit) => key)}, 1,
      statement_timestamp() + ${parameter('float8', ({ durationMs }: Hit) => durationMs)} * interval '1 millisecond')
    ON CONFLICT (key) DO UPDATE SET
      hits = CASE WHEN counter.window_ends_at > statement_timestamp() THEN counter.hits + 1 ELSE 1 END,
      window_ends_at = CASE WHEN counter.window_ends_at > statement_timestamp()
        THEN counter.window_ends_at ELSE excluded.window_ends_at END
    RETURNING hits, (extract(epoch FROM window_ends_at - statement_timestamp()) * 1000)::float8 AS remaining_ms`,
);

/** A key's count in its running window. */
export interface SharedCount {
  readonly hits: number;
  /** Milliseconds until the window ends. */
  readonly remainingMs: number;
}

@Injectable()
export class ThrottleCounterRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Counts one hit. @param durationMs length of the window, if this hit begins one */
  async countHit(key: string, durationMs: number): Promise<SharedCount> {
    const [row] = await COUNT_HIT.run(this.dataSource, { key, durationMs });
    if (row === undefined) throw new Error('an upsert answered no row');
    return { hits: row.hits, remainingMs: row.remaining_ms };
  }

  /**
   * Deletes counters whose window has ended.
   * @param limit most counters to delete
   * @returns how many were deleted
   */
  async purge(limit: number): Promise<number> {
    const [, deleted] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM throttle_counter WHERE key IN (
         SELECT key FROM throttle_counter WHERE window_ends_at < statement_timestamp()
         ORDER BY window_ends_at LIMIT $1 FOR UPDATE SKIP LOCKED
       )`,
      [limit],
    );
    return deleted;
  }
}
