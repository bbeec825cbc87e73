// Deletes expired replay records in the background, fast enough for any traffic.
import { setTimeout as pause } from 'node:timers/promises';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Leader } from '../coordination/leader.js';
import type { MayGoOn } from '../coordination/periodic.job.js';
import { PeriodicJob } from '../coordination/periodic.job.js';
import { purge } from '../coordination/purge.js';
import { Clock } from '../foundation/clock.js';
import type { Log } from '../foundation/log.js';
import { LOGGER } from '../foundation/log.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import type { TokenExchangeOptions } from '../token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../token-exchange.options.js';
import { JtiRepository } from './jti.repository.js';

/** An instance whose clock is behind may still take a token that has expired here: its record must outlive that. */
const CLOCK_DIFFERENCE_SECONDS = 60;
/** A statement that uses ids up takes milliseconds; one that takes longer than this is waited for in the next run. */
const PATIENCE_MS = 5_000;
const LOOK_AGAIN_MS = 20;

/**
 * @rule 8.3 Expired replay records are purged at the configured interval.
 * @rule 8.4 One statement deletes at most the configured batch.
 */
@Injectable()
export class JtiPurgeJob implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    private readonly jtis: JtiRepository,
    private readonly clock: Clock,
    leader: Leader,
    @Inject(LOGGER) private readonly logger: Log,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'replayPurge'>,
    private readonly telemetry: ExchangeTelemetry,
  ) {
    const { intervalSeconds } = options.replayPurge;
    this.job = new PeriodicJob(
      { name: 'jti-purge', intervalSeconds, run: (mayGoOn) => this.run(mayGoOn) },
      leader,
      logger,
    );
  }

  onApplicationBootstrap(): void {
    this.telemetry.watchReplayRecords((atMost) => this.jtis.measure(this.expiredBefore(), atMost));
    this.job.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.job.stop();
  }

  async run(mayGoOn: MayGoOn = () => true): Promise<void> {
    try {
      await this.purgeExpired(mayGoOn);
      this.telemetry.countReplayPurge('succeeded');
    } catch (error) {
      this.telemetry.countReplayPurge('failed');
      throw error;
    }
  }

  private async purgeExpired(mayGoOn: MayGoOn): Promise<void> {
    const { batchSize } = this.options.replayPurge;
    const announced = await this.jtis.announcePurge(this.clock.now(), CLOCK_DIFFERENCE_SECONDS);
    if (announced === undefined || !(await this.isKnownToWriters(mayGoOn))) return;
    const deleteBatch = async (limit: number) => {
      const deleted = await this.jtis.purge(announced, limit);
      this.telemetry.countPurgedReplayRecords(deleted);
      return deleted;
    };
    const deleted = await purge({ batchSize, deleteBatch }, mayGoOn);
    if (deleted > 0) this.logger.debug({ deleted }, 'expired replay records purged');
  }

  /** Whether every statement that may have begun before the announcement has ended: none may find a record gone. */
  private async isKnownToWriters(mayGoOn: MayGoOn): Promise<boolean> {
    const deadline = performance.now() + PATIENCE_MS;
    let unaware = await this.jtis.writers();
    while (unaware.length > 0) {
      if (!mayGoOn()) return false;
      if (performance.now() > deadline) {
        this.logger.warn(
          { transactions: unaware.length },
          'expired replay records are kept: a transaction that writes replay records does not end',
        );
        return false;
      }
      await pause(LOOK_AGAIN_MS);
      const present = new Set(await this.jtis.writers());
      unaware = unaware.filter((name) => present.has(name));
    }
    return true;
  }

  private expiredBefore(): Date {
    return new Date(this.clock.nowMs() - CLOCK_DIFFERENCE_SECONDS * 1000);
  }
}
