// Deletes, in the background, what was recorded of tokens that have expired since.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Leader } from '../../platform/jobs/leader.js';
import type { MayGoOn } from '../../platform/jobs/periodic.job.js';
import { PeriodicJob } from '../../platform/jobs/periodic.job.js';
import { purge } from '../../platform/jobs/purge.js';
import { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { RevocationRepository } from './revocation.repository.js';

const INTERVAL_SECONDS = 300;
const BATCH_SIZE = 1_000;
/** An instance whose clock is behind may still take a token that has expired here. */
const CLOCK_DIFFERENCE_MS = 60_000;

@Injectable()
export class RevocationPurgeJob implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    private readonly repository: RevocationRepository,
    private readonly clock: Clock,
    leader: Leader,
    @Inject(LOGGER) logger: Log,
  ) {
    const run = (mayGoOn: MayGoOn) => this.run(mayGoOn);
    this.job = new PeriodicJob(
      { name: 'revocation-purge', intervalSeconds: INTERVAL_SECONDS, run },
      leader,
      logger,
    );
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.job.stop();
  }

  async run(mayGoOn: MayGoOn = () => true): Promise<void> {
    const now = this.clock.now();
    const tokens = (limit: number) => this.repository.purgeTokens(now, CLOCK_DIFFERENCE_MS, limit);
    await purge({ batchSize: BATCH_SIZE, deleteBatch: tokens }, mayGoOn);
  }
}
