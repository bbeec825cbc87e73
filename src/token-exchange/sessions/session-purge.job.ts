// Deletes sessions that have ended, and ends those over the limit of their users, in the background.
import { Inject, Injectable } from '@nestjs/common';
import { PurgeJob } from '../../platform/jobs/application.job.js';
import { Leader } from '../../platform/jobs/leader.js';
import type { MayGoOn } from '../../platform/jobs/periodic.job.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { SessionService } from './session.service.js';

@Injectable()
export class SessionPurgeJob extends PurgeJob {
  protected readonly batchSize = 1_000;

  constructor(
    private readonly sessions: SessionService,
    leader: Leader,
    @Inject(LOGGER) log: Log,
  ) {
    super({ name: 'session-purge', intervalSeconds: 120 }, leader, log);
  }

  override async run(mayGoOn?: MayGoOn): Promise<void> {
    await super.run(mayGoOn);
    await this.sessions.endTooMany();
  }

  protected deleteBatch(limit: number): Promise<number> {
    return this.sessions.purge(limit);
  }
}
