// Deletes expired replay records in the background, fast enough for any traffic.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Leader } from '../../platform/jobs/leader.js';
import type { MayGoOn } from '../../platform/jobs/periodic.job.js';
import { PeriodicJob } from '../../platform/jobs/periodic.job.js';
import { purge } from '../../platform/jobs/purge.js';
import { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import type { TokenExchangeOptions } from '../token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../token-exchange.options.js';
import { JtiRepository } from './jti.repository.js';

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
    this.telemetry.watchReplayRecords((atMost) => this.jtis.measure(this.clock.now(), atMost));
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
    const deleteBatch = async (limit: number) => {
      const deleted = await this.jtis.purge(this.clock.now(), limit);
      this.telemetry.countPurgedReplayRecords(deleted);
      return deleted;
    };
    const deleted = await purge({ batchSize, deleteBatch }, mayGoOn);
    if (deleted > 0) this.logger.debug({ deleted }, 'expired replay records purged');
  }
}
