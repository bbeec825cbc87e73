// Deletes expired replay records, fast enough for any traffic, and reports the result.
import { Clock } from '../../platform/clock.js';
import type { Purge } from '../../platform/jobs/purge.job.js';
import { purgingBy } from '../../platform/jobs/purge.job.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import { PURGES } from '../retention/purges.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { JtiRepository } from './jti.repository.js';

/**
 * @rule 2.6 A record is deleted after its token's expiry. See `RETENTION_MARGIN_SECONDS` in retention/purges.ts.
 * @rule 8.3 Expired replay records are purged at the configured interval.
 * @rule 8.4 One statement deletes at most the configured batch.
 */
export function usedIdPurge(
  { replayPurge }: Pick<TokenExchangeOptions, 'replayPurge'>,
  telemetry: ExchangeTelemetry,
  jtis: JtiRepository,
  clock: Clock,
  log: Log,
): Purge {
  telemetry.watchReplayRecords((atMost) => jtis.measure(clock.now(), atMost));
  return {
    ...PURGES.usedIds,
    ...replayPurge,
    onDeleted: (deleted) => {
      telemetry.countPurgedReplayRecords(deleted);
      if (deleted > 0) log.debug({ deleted }, 'expired replay records purged');
    },
    onRun: (outcome) => telemetry.countReplayPurge(outcome),
  };
}

export const USED_ID_PURGE = purgingBy(
  PURGES.usedIds.name,
  [TOKEN_EXCHANGE_OPTIONS, ExchangeTelemetry, JtiRepository, Clock, LOGGER],
  usedIdPurge,
);
