// Deletes sessions that have ended, in the background.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Leader } from '../../platform/jobs/leader.js';
import { PeriodicJob } from '../../platform/jobs/periodic.job.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { SessionService } from './session.service.js';

const INTERVAL_SECONDS = 300;

@Injectable()
export class SessionPurgeJob implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(sessions: SessionService, leader: Leader, @Inject(LOGGER) logger: Log) {
    const run = () => sessions.purge();
    const work = { name: 'session-purge', intervalSeconds: INTERVAL_SECONDS, run };
    this.job = new PeriodicJob(work, leader, logger);
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.job.stop();
  }
}
