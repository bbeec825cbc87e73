// Runs a piece of work again and again while this process is the leader.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { Log } from '../log/log.js';
import type { Leader } from './leader.js';

/** The longest time between two looks whether the work is due and whether this process leads. */
const LONGEST_CHECK_MS = 1_000;

/** What to do, how often, and where to say that it failed. */
export interface PeriodicWork {
  readonly name: string;
  readonly intervalSeconds: number;
  /**
   * Harmless where two processes run it at once, since one that was stopped may go on after another leads.
   * @param mayGoOn false once the process stops or no longer leads: a long run asks before each of its steps
   */
  run(mayGoOn: MayGoOn): Promise<void>;
}

export type MayGoOn = () => boolean;

/**
 * Calls the work after each interval, never two at a time, and at once when this process becomes the leader: the one
 * before may have failed just before it was due. A failing run is logged and the next one comes in time.
 */
export class PeriodicJob {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;
  private wasLeader = false;
  /** On the monotonic clock. */
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

  /** The first run comes after one interval: what must be done at the start, the start does. */
  start(): void {
    this.wasLeader = this.leader.isLeader;
    this.postpone();
    this.watch();
  }

  /** No further run begins; resolves when a running one has ended. */
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

  /** At the check that is nearest to the time: timers may be a moment early, and the next check is a second away. */
  private isDue(): boolean {
    return performance.now() > this.dueAtMs - this.checkMs / 2;
  }
}

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
