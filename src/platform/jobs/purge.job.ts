// Deletes what has expired from tables that have a time in each row, batch by batch: as fast as it gathers, and without holding requests up.
import { setTimeout as pause } from 'node:timers/promises';
import type { InjectionToken, Provider } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Database } from '../database/database.js';
import type { Log } from '../log/log.js';
import { LOGGER } from '../log/log.js';
import { ApplicationJob } from './periodic.job.js';
import { Leader } from './leader.js';
import type { MayGoOn } from './periodic.job.js';

/** Lets requests in between two batches. */
const PAUSE_MS = 20;

/** A table, and for how long its rows stay after the time that they have. */
export interface ExpiringRows {
  readonly table: string;
  /** The column of the time; in a table that may be large it has an index. */
  readonly time: string;
  readonly keptMs: number;
}

/** A row of a list of jobs. Its name is the token of its provider too. */
export interface Purge {
  readonly name: string;
  readonly intervalSeconds: number;
  /** The most rows that one statement deletes. */
  readonly batchSize: number;
  readonly tables: readonly ExpiringRows[];
  /** Told of each batch how many rows it has deleted. */
  readonly onDeleted?: (rows: number) => void;
  /** What a run does besides, at its end. */
  readonly afterwards?: () => Promise<void>;
  /** Told of each run. */
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

  /** @rule D38 While a batch comes back full the next one follows at once, so that the table stays bounded. */
  private async deleteFrom(rows: ExpiringRows, mayGoOn: MayGoOn): Promise<void> {
    while (mayGoOn()) {
      const deleted = await this.deleteBatch(rows);
      this.purge.onDeleted?.(deleted);
      if (deleted < this.purge.batchSize) return;
      await pause(PAUSE_MS);
    }
  }

  /**
   * Deletes by the earlier of two clocks, this process's and the database's: what goes too early lets in again what was used or
   * ended. Rows are deleted by their position in the table, where no estimate of sizes can mislead the planner; one that changes
   * meanwhile gets another position, and stays.
   * @returns how many were deleted
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

/** The provider of the job of a row. */
export function purging(row: Purge): Provider {
  return purgingBy(row.name, [], () => row);
}

/** The same where the row is made of what is injected. */
export function purgingBy<Parts extends unknown[]>(
  name: string,
  inject: readonly InjectionToken[],
  rowOf: (...parts: Parts) => Purge,
): Provider {
  const useFactory = (database: Database, clock: Clock, leader: Leader, log: Log, ...parts: Parts) =>
    new PurgeJob(rowOf(...parts), database, clock, leader, log);
  return { provide: name, inject: [Database, Clock, Leader, LOGGER, ...inject], useFactory };
}
