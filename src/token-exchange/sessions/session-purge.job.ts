// Deletes sessions that have ended, in the background.
import { Inject, Injectable } from '@nestjs/common';
import { ApplicationJob } from '../../platform/jobs/application.job.js';
import { Leader } from '../../platform/jobs/leader.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { SessionService } from './session.service.js';

@Injectable()
export class SessionPurgeJob extends ApplicationJob {
  constructor(
    private readonly sessions: SessionService,
    leader: Leader,
    @Inject(LOGGER) log: Log,
  ) {
    super({ name: 'session-purge', intervalSeconds: 120 }, leader, log);
  }

  run(): Promise<void> {
    return this.sessions.purge();
  }
}
