// Deletes shared request counts of windows that have ended.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { Leader } from '../../jobs/leader.js';
import type { MayGoOn } from '../../jobs/periodic.job.js';
import { PeriodicJob } from '../../jobs/periodic.job.js';
import { purge } from '../../jobs/purge.js';
import { LOGGER } from '../../log/log.js';
import { WINDOW_MS } from './minute-throttler.guard.js';
import { ThrottleCounterRepository } from './throttle-counter.repository.js';

const BATCH_SIZE = 5_000;

/** Once per window, on the leader only; full batches follow one another, so that a flood of addresses is cleared too. */
@Injectable()
export class ThrottlePurgeJob implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    private readonly counters: ThrottleCounterRepository,
    leader: Leader,
    @Inject(LOGGER) logger: Logger,
  ) {
    const work = {
      name: 'throttle-purge',
      intervalSeconds: WINDOW_MS / 1000,
      run: (mayGoOn: MayGoOn) => this.run(mayGoOn),
    };
    this.job = new PeriodicJob(work, leader, logger);
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.job.stop();
  }

  async run(mayGoOn: MayGoOn = () => true): Promise<void> {
    await purge({ batchSize: BATCH_SIZE, deleteBatch: (limit) => this.counters.purge(limit) }, mayGoOn);
  }
}
