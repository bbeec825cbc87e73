// Deletes sessions that have ended, and ends those over the limit of their users, in the background.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Database } from '../../platform/database/database.js';
import { Leader } from '../../platform/jobs/leader.js';
import type { MayGoOn } from '../../platform/jobs/periodic.job.js';
import { PurgeJob } from '../../platform/jobs/purge.job.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { PURGES } from '../retention/purges.js';
import { SessionService } from './session.service.js';

@Injectable()
export class SessionPurgeJob extends PurgeJob {
  constructor(
    database: Database,
    clock: Clock,
    leader: Leader,
    @Inject(LOGGER) log: Log,
    private readonly sessions: SessionService,
  ) {
    super(PURGES.sessions, database, clock, leader, log);
  }

  override async run(mayGoOn?: MayGoOn): Promise<void> {
    await super.run(mayGoOn);
    await this.sessions.endTooMany();
  }
}
