// The parts of the sessions of this package, for every module that offers them.
import { SessionRepository } from './session.repository.js';
import { SessionService } from './session.service.js';
import { SignOutService } from './sign-out.service.js';
import { Inject, Injectable } from '@nestjs/common';
import { ApplicationJob } from '../../platform/jobs/application.job.js';
import { Leader } from '../../platform/jobs/leader.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';

/** Deletes sessions that have ended, in the background. */
@Injectable()
export class SessionPurgeJob extends ApplicationJob {
  constructor(
    private readonly sessions: SessionService,
    leader: Leader,
    @Inject(LOGGER) log: Log,
  ) {
    super({ name: 'session-purge', intervalSeconds: 300 }, leader, log);
  }

  run(): Promise<void> {
    return this.sessions.purge();
  }
}

/** They need `SESSION_OPTIONS`, `Revocations` with the rest of its room, `UserDirectory`, `Database`, `AuditBus`, `Leader`, `Clock` and `LOGGER`. */
export const SESSION_PROVIDERS = [SessionRepository, SessionService, SignOutService, SessionPurgeJob];
