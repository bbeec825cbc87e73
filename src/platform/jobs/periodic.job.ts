// Runs a job periodically while this process is the leader.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { Log } from '../log/log.js';
import type { Leader } from './leader.js';

/** The longest time between two checks whether the job is due and this process is the leader. */
const LONGEST_CHECK_MS = 1_000;

export interface PeriodicWork {
  readonly name: string;
  readonly intervalSeconds: number;
  /**
   * Must be harmless if two processes run it at once: a stopped process may continue after another one has
   * become the leader.
   * @param mayGoOn false once the process stops or is no longer the leader; long runs check it before each
   * step
   */
  run(mayGoOn: MayGoOn): Promise<void>;
}

export type MayGoOn = () => boolean;

/**
 * Runs the job after each interval, and never twice at a time. Also runs it at once when this process becomes
 * the leader, because the last leader may have failed just before the job was due. A failed run is logged,
 * and the next one is on time.
 */
export class PeriodicJob {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;
  private wasLeader = false;
  /** On the monotonic clock, in milliseconds. */
  private dueAtMs = 0;
  private readonly intervalMs: number;
  private readonly checkMs: number;

  constructor(
    private readonly work: PeriodicWork,
    private readonly leader: Leader,
    private readonly logger: Log,
  ) {
    this.intervalMs = work.intervalSeconds * 1000;
    this.checkMs = Math.min(this.intervalMs, LONGEST_CHECK_MS);
  }

  /** The first run is after one interval. Work that is needed at the start is done elsewhere. */
  start(): void {
    this.wasLeader = this.leader.isLeader;
    this.postpone();
    this.watch();
  }

  /** Prevents further runs. Resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private watch(): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.running = this.check().finally(() => this.watch());
    }, this.checkMs);
    this.timer.unref();
  }

  private async check(): Promise<void> {
    const wasLeader = this.wasLeader;
    this.wasLeader = this.leader.isLeader;
    if (!this.wasLeader) return;
    if (wasLeader && !this.isDue()) return;
    await this.runOnce();
    this.postpone();
  }

  private async runOnce(): Promise<void> {
    try {
      await this.work.run(() => this.leader.isLeader && !this.stopped);
    } catch (error) {
      this.logger.error(
        { err: error, job: this.work.name },
        'a periodic job failed; it runs again after its interval',
      );
    }
  }

  private postpone(): void {
    this.dueAtMs = performance.now() + this.intervalMs;
  }

  /** Due at the check nearest to the time: timers may fire early, and the next check may be a second away. */
  private isDue(): boolean {
    return performance.now() > this.dueAtMs - this.checkMs / 2;
  }
}

/** A periodic job that runs while the application does. */
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
