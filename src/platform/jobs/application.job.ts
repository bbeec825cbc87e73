// Jobs that start and stop with the application; those that delete what has expired.
import { setTimeout as pause } from 'node:timers/promises';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { Log } from '../log/log.js';
import type { Leader } from './leader.js';
import type { MayGoOn, PeriodicWork } from './periodic.job.js';
import { PeriodicJob } from './periodic.job.js';

/** Lets requests in between two batches. */
const PAUSE_MS = 20;

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

/** Deletes what has expired batch by batch, as fast as it gathers and without holding requests up. */
export abstract class PurgeJob extends ApplicationJob {
  /** The most rows that one statement deletes. */
  protected abstract readonly batchSize: number;

  /**
   * Deletes until a batch is not full.
   * @rule D38 While a batch comes back full the next one follows at once, so that the table stays bounded.
   */
  async run(mayGoOn: MayGoOn = () => true): Promise<void> {
    while (mayGoOn()) {
      const deleted = await this.deleteBatch(this.batchSize);
      if (deleted < this.batchSize) break;
      await pause(PAUSE_MS);
    }
  }

  /** Deletes at most so many rows of each kind. @returns how many there were */
  protected abstract deleteBatch(limit: number): Promise<number>;
}
