// Jobs that delete what has expired, without waiting for their turn.
import type { DataSource } from 'typeorm';
import type { Clock } from '../../src/platform/clock.js';
import { Database } from '../../src/platform/database/database.js';
import { AlwaysLeader } from '../../src/platform/jobs/leader.js';
import type { Purge } from '../../src/platform/jobs/purge.job.js';
import { PurgeJob } from '../../src/platform/jobs/purge.job.js';
import { SILENT } from '../../src/platform/log/log.js';

export function purgeJobOn(
  dataSource: DataSource,
  purge: Partial<Purge> & Pick<Purge, 'tables'>,
  clock: Clock,
): PurgeJob {
  const row = { name: 'test', intervalSeconds: 3_600, batchSize: 1_000, ...purge };
  return new PurgeJob(row, new Database(dataSource), clock, new AlwaysLeader(), SILENT);
}

/** Lets a run delete `count` batches. */
export function batches(count: number): () => boolean {
  return () => count-- > 0;
}
