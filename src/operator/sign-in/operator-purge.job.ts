// Deletes ended sessions of operators, and failed sign-ins that count no more.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Leader } from '../../token-exchange/coordination/leader.js';
import { LeaderTerm } from '../../token-exchange/coordination/leader-term.js';
import { PeriodicJob } from '../../token-exchange/coordination/periodic.job.js';
import { purge } from '../../token-exchange/coordination/purge.js';
import { Clock } from '../../token-exchange/foundation/clock.js';
import type { Log } from '../../token-exchange/foundation/log.js';
import { LOGGER } from '../../token-exchange/foundation/log.js';
import { SignInFailureRepository } from '../accounts/sign-in-failure.repository.js';
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
    private readonly leader: Leader,
    @Inject(LOGGER) logger: Log,
  ) {
    const work = {
      name: 'operator-purge',
      intervalSeconds: INTERVAL_SECONDS,
      run: (term: LeaderTerm) => this.run(term),
    };
    this.job = new PeriodicJob(work, leader, logger);
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.job.stop();
  }

  async run(term = new LeaderTerm(this.leader)): Promise<void> {
    await purge({ batchSize: BATCH_SIZE, deleteBatch: (limit) => this.sessions.purge(term, limit) }, term);
    const now = this.clock.now();
    await purge(
      { batchSize: BATCH_SIZE, deleteBatch: (limit) => this.failures.purge(term, now, limit) },
      term,
    );
  }
}
