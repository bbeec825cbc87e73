// Deletes what has expired batch by batch, as fast as it gathers and without holding requests up.
import { setTimeout as pause } from 'node:timers/promises';
import type { MayGoOn } from './periodic.job.js';

/** Lets requests in between two batches. */
const PAUSE_MS = 20;

/** What is to be deleted, and how much of it by one statement. */
export interface Purge {
  readonly batchSize: number;
  /** Deletes at most so many rows. @returns how many there were */
  readonly deleteBatch: (limit: number) => Promise<number>;
}

/**
 * Deletes until a batch is not full.
 * @rule D38 While a batch comes back full the next one follows at once, so that the table stays bounded.
 * @param mayGoOn asked before each batch
 * @returns how many rows were deleted
 */
export async function purge({ batchSize, deleteBatch }: Purge, mayGoOn: MayGoOn): Promise<number> {
  let total = 0;
  while (mayGoOn()) {
    const deleted = await deleteBatch(batchSize);
    total += deleted;
    if (deleted < batchSize) break;
    await pause(PAUSE_MS);
  }
  return total;
}
