// Deletes counts of windows that are over from the database.
import { Inject, Injectable } from '@nestjs/common';
import { PurgeJob } from '../../jobs/application.job.js';
import { Leader } from '../../jobs/leader.js';
import type { Log } from '../../log/log.js';
import { LOGGER } from '../../log/log.js';
import { WINDOW_MS } from './minute-throttler.guard.js';
import { ThrottleCounterRepository } from './throttle-counter.repository.js';

/** Once per window; full batches follow one another, so that a flood of addresses is cleared too. */
@Injectable()
export class ThrottlePurgeJob extends PurgeJob {
  protected readonly batchSize = 5_000;

  constructor(
    private readonly counters: ThrottleCounterRepository,
    leader: Leader,
    @Inject(LOGGER) log: Log,
  ) {
    super({ name: 'throttle-purge', intervalSeconds: WINDOW_MS / 1000 }, leader, log);
  }

  protected deleteBatch(limit: number): Promise<number> {
    return this.counters.purge(limit);
  }
}
