// Follows changes of a table: by notification at once, and by polling, because notifications may get lost.
import type { Clock } from '../clock.js';
import type { Log } from '../log/log.js';
import type { Notifications, Subscription } from './notifications.js';

/** How often a follower checks whether to poll. */
const CHECK_MS = 1_000;

export interface Followed {
  /** The channel on which each change is announced. */
  readonly channel: string;
  /** Reads at the latest after this time. */
  readonly pollMs: number;
  /** If a reading takes longer than this, the next one starts in parallel. Default: never, so that readings end in order. */
  readonly patienceMs?: number;
  /** The message of the first failure after a success. */
  readonly failure: string;
  /** Reads what has changed, and applies it. */
  read(): Promise<void>;
}

export class Follower {
  private subscription: Subscription | undefined;
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> | undefined;
  private readAtMs = Number.NEGATIVE_INFINITY;
  private isFailing = false;
  private hasStopped = false;

  constructor(
    private readonly followed: Followed,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
    private readonly logger: Log,
  ) {}

  /** Reads once, and then follows. Does not fail if the database is away. */
  async start(): Promise<void> {
    await this.readQuietly();
    this.subscription = this.notifications.listen(this.followed.channel, () => void this.followNews());
    this.timer = setInterval(() => void this.poll(), CHECK_MS);
    this.timer.unref();
  }

  async stop(): Promise<void> {
    this.hasStopped = true;
    clearInterval(this.timer);
    await this.subscription?.end();
    await this.reading?.catch(() => undefined);
  }

  /** Reads changes. Calls share a running reading. @throws the driver's error */
  follow(): Promise<void> {
    const { patienceMs = Number.POSITIVE_INFINITY } = this.followed;
    if (this.reading === undefined || this.sinceReadMs >= patienceMs) this.reading = this.read();
    return this.reading;
  }

  /** Like `follow`, but does nothing if a reading began within this time and has ended. */
  async reread(withinMs: number): Promise<void> {
    if (this.reading !== undefined || this.sinceReadMs >= withinMs) await this.follow();
  }

  /** Reads once more, because a running reading may have started before the change. Never rejects. */
  async followNews(): Promise<void> {
    await this.reading?.catch(() => undefined);
    await this.readQuietly();
  }

  /** Polls at the check that is nearest to the time, because timers may fire early. */
  private async poll(): Promise<void> {
    if (this.sinceReadMs >= this.followed.pollMs - CHECK_MS / 2) await this.readQuietly();
  }

  private read(): Promise<void> {
    this.readAtMs = this.clock.monotonicMs();
    const reading = this.followed.read().finally(() => {
      if (this.reading === reading) this.reading = undefined;
    });
    return reading;
  }

  private async readQuietly(): Promise<void> {
    try {
      await this.follow();
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing && !this.hasStopped) this.logger.error({ err: error }, this.followed.failure);
      this.isFailing = true;
    }
  }

  /** How long ago the last reading began. */
  private get sinceReadMs(): number {
    return this.clock.monotonicMs() - this.readAtMs;
  }
}
