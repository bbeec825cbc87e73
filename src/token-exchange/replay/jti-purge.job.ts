// Deletes expired replay records in the background, fast enough for any traffic.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Database } from '../../platform/database/database.js';
import { Leader } from '../../platform/jobs/leader.js';
import type { MayGoOn } from '../../platform/jobs/periodic.job.js';
import type { ExpiringRows } from '../../platform/jobs/purge.job.js';
import { PurgeJob } from '../../platform/jobs/purge.job.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import { PURGES } from '../retention/purges.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { JtiRepository } from './jti.repository.js';

/**
 * @rule 2.6 A record goes after its token's expiry. See `RETENTION_MARGIN_SECONDS` in retention/purges.ts.
 * @rule 8.3 Expired replay records are purged at the configured interval.
 * @rule 8.4 One statement deletes at most the configured batch.
 */
@Injectable()
export class JtiPurgeJob extends PurgeJob {
  constructor(
    database: Database,
    clock: Clock,
    leader: Leader,
    @Inject(LOGGER) private readonly log: Log,
    @Inject(TOKEN_EXCHANGE_OPTIONS) { replayPurge }: Pick<TokenExchangeOptions, 'replayPurge'>,
    private readonly telemetry: ExchangeTelemetry,
    private readonly jtis: JtiRepository,
  ) {
    super({ ...PURGES.usedIds, ...replayPurge }, database, clock, leader, log);
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

  protected override async deleteBatch(rows: ExpiringRows): Promise<number> {
    const deleted = await super.deleteBatch(rows);
    this.telemetry.countPurgedReplayRecords(deleted);
    if (deleted > 0) this.log.debug({ deleted }, 'expired replay records purged');
    return deleted;
  }
}
