// Deletes what has expired from a table that has a time in each row.
import type { Database } from './database.js';

/** A table, and for how long its rows stay after the time that they have. */
export interface ExpiringRows {
  readonly table: string;
  /** The column of the time, which has an index. */
  readonly time: string;
  readonly keptMs: number;
}

/**
 * Deletes by the earlier of two clocks, this process's and the database's: what goes too early lets in again what was used or ended.
 * Rows are deleted by their position in the table, where no estimate of sizes can mislead the planner; one that changes meanwhile
 * gets another position, and stays.
 * @param limit most rows to delete
 * @returns how many were deleted
 */
export function purgeExpired(
  database: Database,
  { table, time, keptMs }: ExpiringRows,
  now: Date,
  limit: number,
): Promise<number> {
  return database.change(
    `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM ${table}
       WHERE ${time} < least($1::timestamptz, clock_timestamp()) - $2 * interval '1 millisecond'
       ORDER BY ${time} LIMIT $3 FOR UPDATE SKIP LOCKED
     ))`,
    [now, keptMs, limit],
  );
}
