// Deletes ended sessions of operators, and failed sign-ins that count no more.
import { Inject, Injectable } from '@nestjs/common';
import { SignInFailureRepository } from '../../administration/accounts/sign-in-failure.repository.js';
import { Clock } from '../../platform/clock.js';
import { PurgeJob } from '../../platform/jobs/application.job.js';
import { Leader } from '../../platform/jobs/leader.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { OperatorSessionService } from './operator-session.service.js';

@Injectable()
export class OperatorPurgeJob extends PurgeJob {
  protected readonly batchSize = 1_000;

  constructor(
    private readonly sessions: OperatorSessionService,
    private readonly failures: SignInFailureRepository,
    private readonly clock: Clock,
    leader: Leader,
    @Inject(LOGGER) log: Log,
  ) {
    super({ name: 'operator-purge', intervalSeconds: 300 }, leader, log);
  }

  protected async deleteBatch(limit: number): Promise<number> {
    const sessions = await this.sessions.purge(limit);
    return sessions + (await this.failures.purge(this.clock.now(), limit));
  }
}
