// Deletes expired replay records in the background, fast enough for any traffic.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { PurgeJob } from '../../platform/jobs/application.job.js';
import { Leader } from '../../platform/jobs/leader.js';
import type { MayGoOn } from '../../platform/jobs/periodic.job.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { JtiRepository } from './jti.repository.js';

/**
 * @rule 8.3 Expired replay records are purged at the configured interval. See `RETENTION_MARGIN_SECONDS` in jti.repository.ts.
 * @rule 8.4 One statement deletes at most the configured batch.
 */
@Injectable()
export class JtiPurgeJob extends PurgeJob {
  protected readonly batchSize: number;

  constructor(
    private readonly jtis: JtiRepository,
    private readonly clock: Clock,
    leader: Leader,
    @Inject(LOGGER) private readonly log: Log,
    @Inject(TOKEN_EXCHANGE_OPTIONS) { replayPurge }: Pick<TokenExchangeOptions, 'replayPurge'>,
    private readonly telemetry: ExchangeTelemetry,
  ) {
    super({ name: 'jti-purge', intervalSeconds: replayPurge.intervalSeconds }, leader, log);
    this.batchSize = replayPurge.batchSize;
  }

  override async onApplicationBootstrap(): Promise<void> {
    this.telemetry.watchReplayRecords((atMost) => this.jtis.measure(this.clock.now(), atMost));
    await super.onApplicationBootstrap();
  }

  override async run(mayGoOn?: MayGoOn): Promise<void> {
    try {
      await super.run(mayGoOn);
      this.telemetry.countReplayPurge('succeeded');
    } catch (error) {
      this.telemetry.countReplayPurge('failed');
      throw error;
    }
  }

  protected async deleteBatch(limit: number): Promise<number> {
    const deleted = await this.jtis.purge(this.clock.now(), limit);
    this.telemetry.countPurgedReplayRecords(deleted);
    if (deleted > 0) this.log.debug({ deleted }, 'expired replay records purged');
    return deleted;
  }
}
