// Deletes ended sessions of operators, and failed sign-ins that count no more.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Leader } from '../../platform/jobs/leader.js';
import type { MayGoOn } from '../../platform/jobs/periodic.job.js';
import { PeriodicJob } from '../../platform/jobs/periodic.job.js';
import { purge } from '../../platform/jobs/purge.js';
import { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { SignInFailureRepository } from '../../administration/accounts/sign-in-failure.repository.js';
import { OperatorSessionService } from './operator-session.service.js';

const INTERVAL_SECONDS = 300;
const BATCH_SIZE = 1_000;

/** On the leader only. */
@Injectable()
export class OperatorPurgeJob implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    private readonly sessions: OperatorSessionService,
    private readonly failures: SignInFailureRepository,
    private readonly clock: Clock,
    leader: Leader,
    @Inject(LOGGER) logger: Log,
  ) {
    const work = {
      name: 'operator-purge',
      intervalSeconds: INTERVAL_SECONDS,
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
    await purge({ batchSize: BATCH_SIZE, deleteBatch: (limit) => this.sessions.purge(limit) }, mayGoOn);
    const now = this.clock.now();
    await purge({ batchSize: BATCH_SIZE, deleteBatch: (limit) => this.failures.purge(now, limit) }, mayGoOn);
  }
}
