// Jobs that start and stop with the application.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { Log } from '../log/log.js';
import type { Leader } from './leader.js';
import type { MayGoOn, PeriodicWork } from './periodic.job.js';
import { PeriodicJob } from './periodic.job.js';

/** A periodic job of the leader, for as long as the application runs. */
export abstract class ApplicationJob implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly job: PeriodicJob;

  protected constructor(schedule: Omit<PeriodicWork, 'run'>, leader: Leader, log: Log) {
    this.job = new PeriodicJob({ ...schedule, run: (mayGoOn) => this.run(mayGoOn) }, leader, log);
  }

  onApplicationBootstrap(): void | Promise<void> {
    this.job.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.job.stop();
  }

  /** See PeriodicWork. */
  abstract run(mayGoOn?: MayGoOn): Promise<void>;
}
