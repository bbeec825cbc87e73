// Deletes ended sessions of operators, and failed sign-ins that count no more.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Leader } from '../../token-exchange/coordination/leader.js';
import { PeriodicJob } from '../../token-exchange/coordination/periodic.job.js';
import { Clock } from '../../token-exchange/foundation/clock.js';
import type { Log } from '../../token-exchange/foundation/log.js';
import { LOGGER } from '../../token-exchange/foundation/log.js';
import { SignInFailureRepository } from '../accounts/sign-in-failure.repository.js';
import { OperatorSessionService } from './operator-session.service.js';

const INTERVAL_SECONDS = 300;

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
    const work = { name: 'operator-purge', intervalSeconds: INTERVAL_SECONDS, run: () => this.run() };
    this.job = new PeriodicJob(work, leader, logger);
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.job.stop();
  }

  async run(): Promise<void> {
    await this.sessions.purge();
    await this.failures.purge(this.clock.now());
  }
}
