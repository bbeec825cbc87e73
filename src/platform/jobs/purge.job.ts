// Deletes expired rows batch by batch: as fast as they accumulate, and without blocking requests.
import { setTimeout as pause } from 'node:timers/promises';
import type { InjectionToken, Provider } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Database } from '../database/database.js';
import type { Log } from '../log/log.js';
import { LOGGER } from '../log/log.js';
import { Leader } from './leader.js';
import type { MayGoOn } from './periodic.job.js';
import { ApplicationJob } from './periodic.job.js';

/** Lets requests run between two batches. */
const PAUSE_MS = 20;

/** A table, and how long its rows are kept after the time in a column. */
export interface ExpiringRows {
  readonly table: string;
  /** The column with the time. A table that may be large has an index on it. */
  readonly time: string;
  readonly keptMs: number;
}

/** One purge job. Its name is also the token of its provider. */
export interface Purge {
  readonly name: string;
  readonly intervalSeconds: number;
  /** The highest number of rows that one statement deletes. */
  readonly batchSize: number;
  readonly tables: readonly ExpiringRows[];
  /** Called after each batch with the number of deleted rows. */
  readonly onDeleted?: (rows: number) => void;
  /** Called at the end of each run. */
  readonly afterwards?: () => Promise<void>;
  /** Called with the outcome of each run. */
  readonly onRun?: (outcome: 'succeeded' | 'failed') => void;
}

export class PurgeJob extends ApplicationJob {
  constructor(
    private readonly purge: Purge,
    private readonly database: Database,
    private readonly clock: Clock,
    leader: Leader,
    log: Log,
  ) {
    super(purge, leader, log);
  }

  async run(mayGoOn: MayGoOn = () => true): Promise<void> {
    const { tables, afterwards, onRun } = this.purge;
    try {
      for (const rows of tables) await this.deleteFrom(rows, mayGoOn);
      await afterwards?.();
      onRun?.('succeeded');
    } catch (error) {
      onRun?.('failed');
      throw error;
    }
  }

  /** @rule D38 A full batch is followed by the next one at once, so that the table stays bounded. */
  private async deleteFrom(rows: ExpiringRows, mayGoOn: MayGoOn): Promise<void> {
    while (mayGoOn()) {
      const deleted = await this.deleteBatch(rows);
      this.purge.onDeleted?.(deleted);
      if (deleted < this.purge.batchSize) return;
      await pause(PAUSE_MS);
    }
  }

  /**
   * Deletes by the earlier of two clocks, this process's and the database's: if a replay record were deleted too
   * early, its token could be used again. Rows are deleted by their position in the table, so that no estimate
   * misleads the planner. A row that changes meanwhile gets a new position, and stays.
   * @returns the number of deleted rows
   */
  private deleteBatch({ table, time, keptMs }: ExpiringRows): Promise<number> {
    return this.database.background.change(
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM ${table}
         WHERE ${time} < least($1::timestamptz, clock_timestamp()) - $2 * interval '1 millisecond'
         ORDER BY ${time} LIMIT $3 FOR UPDATE SKIP LOCKED
       ))`,
      [this.clock.now(), keptMs, this.purge.batchSize],
    );
  }
}

export function purging(row: Purge): Provider {
  return purgingBy(row.name, [], () => row);
}

/** Provides the job of a purge that depends on injected values. */
export function purgingBy<Parts extends unknown[]>(
  name: string,
  inject: readonly InjectionToken[],
  rowOf: (...parts: Parts) => Purge,
): Provider {
  const useFactory = (database: Database, clock: Clock, leader: Leader, log: Log, ...parts: Parts) =>
    new PurgeJob(rowOf(...parts), database, clock, leader, log);
  return { provide: name, inject: [Database, Clock, Leader, LOGGER, ...inject], useFactory };
}
